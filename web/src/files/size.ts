const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const UNITS = ["bytes", "kB", "MB", "GB"];

/** A size as people read it. */
export function formatSize(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size >= 1024 && unit < UNITS.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `${number.format(size)} ${bytes === 1 ? "byte" : UNITS[unit]}`;
}
