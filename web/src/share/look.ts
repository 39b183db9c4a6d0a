/**
 * The look of the web UI inside one element, and nowhere else on the page. Sheets made by a script need no wider policy.
 * What a sheet says about the page's root is said about the element; what registers properties must stand outside.
 */
export function adopt(host: HTMLElement, css: string): HTMLElement {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const theme = () => (host.dataset.theme = dark.matches ? "dark" : "light");
  dark.addEventListener("change", theme);
  theme();
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheet(css.replaceAll(":root", ":host").replaceAll('[data-theme="dark"]', ':host([data-theme="dark"])').replaceAll("[data-theme=dark]", ":host([data-theme=dark])"))];
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet((css.match(/@property[^{]+\{[^}]*\}/g) ?? []).join("\n"))];
  const frame = document.createElement("div");
  root.append(frame);
  return frame;
}

function sheet(css: string): CSSStyleSheet {
  const made = new CSSStyleSheet();
  made.replaceSync(css);
  return made;
}
