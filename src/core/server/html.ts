/** Escapes text for HTML. */

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

/** Escapes text like Go's html package. */
export const escapedHtml = (text: string): string => text.replace(/[&<>"']/g, (found) => ENTITIES[found] ?? "");
