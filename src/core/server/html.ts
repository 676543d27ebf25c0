/** Text as part of HTML. */

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

/** As Go's html package escapes it. */
export const escapedHtml = (text: string): string => text.replace(/[&<>"']/g, (found) => ENTITIES[found] ?? "");
