/** The blocks of a PEM text, read as leniently as Go's encoding/pem and written in one form. */
const BLOCK = /^-----BEGIN ([^\r\n]*?)-----[ \t]*\r?\n([\s\S]*?)^-----END \1-----[ \t]*$/gm;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const LINE_CHARS = 64;

/** What each block holds, whatever its label, as base64 without line breaks; text between blocks and headers are left out. */
export function pemContents(text: string): readonly string[] {
  return [...text.matchAll(BLOCK)].flatMap(([, , body = ""]) => {
    const lines = body.split("\n").filter((line) => !line.includes(":"));
    const content = lines.join("").replace(/\s/g, "");
    return BASE64.test(content) ? [content] : [];
  });
}

/** One certificate as a block of its own. */
export function certificateBlock(content: string): string {
  const lines = content.match(new RegExp(`.{1,${LINE_CHARS}}`, "g")) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
