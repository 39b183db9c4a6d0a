export function RunDrawer() {
  return null;
}
