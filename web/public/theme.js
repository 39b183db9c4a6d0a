// Chooses light or dark before the first paint. A file of its own: the page's policy allows no inline script.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem("toolgate.theme");
  } catch (_) {
    // A browser that keeps nothing gets the system's theme.
  }
  var dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
