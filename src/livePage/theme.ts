/** Keeps the theme that the reader has chosen. */
import { effect, type Signal } from "@preact/signals";
import type { Theme } from "./page.ts";

const KEY = "rxlet-theme";
const isTheme = (text: string | null): text is Theme => text === "auto" || text === "dark" || text === "light";

/** Reads the theme of the last visit, applies it, and keeps each change. */
export function keepTheme(theme: Signal<Theme>): void {
  const known = stored();
  if (isTheme(known)) theme.value = known;
  effect(() => {
    if (theme.value === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme.value;
    store(theme.value);
  });
}

/** Browsers may refuse storage. */
function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function store(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The theme lasts as long as the page.
  }
}
