/**
 * Reads the blocks of a PEM text, about as leniently as Go's encoding/pem, and writes them in one form. Each line is
 * read once, even when many blocks start and never end.
 */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const LINE = /.{1,64}/g;
const BEGIN = "-----BEGIN ";
const END = "-----END ";
const DASHES = "-----";

/** A block of a PEM text. */
export interface PemBlock {
  readonly label: string;
  /** The whole block, from its first dash to its last. */
  readonly text: string;
  /** The text between the BEGIN and END lines. */
  readonly body: string;
}

/** Returns the label of a line such as `-----BEGIN CERTIFICATE-----`. */
const labelIn = (line: string, opening: string): string | undefined =>
  line.startsWith(opening) && line.endsWith(DASHES) && line.length >= opening.length + DASHES.length
    ? line.slice(opening.length, -DASHES.length)
    : undefined;

/** Returns the blocks in order. Skips a block that starts again, or ends with another label. */
export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: { readonly label: string; readonly start: number; readonly bodyStart: number } | undefined;
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf("\n", start);
    const next = feed === -1 ? text.length : feed + 1;
    const line = text.slice(start, next).trimEnd();
    const begun = labelIn(line, BEGIN);
    const ended = labelIn(line, END);
    if (begun !== undefined) open = { label: begun, start, bodyStart: next };
    else if (ended !== undefined) {
      if (open?.label === ended) {
        const { label } = open;
        blocks.push({
          label,
          text: text.slice(open.start, start + line.length),
          body: text.slice(open.bodyStart, start),
        });
      }
      open = undefined;
    }
    start = next;
  }
  return blocks;
}

/** Returns the content of each block, whatever its label, as base64 without line breaks and headers. */
export function pemContents(text: string): readonly string[] {
  return pemBlocks(text).flatMap(({ body }) => {
    const lines = body.split("\n").filter((line) => !line.includes(":"));
    const content = lines.join("").replace(/\s/g, "");
    return BASE64.test(content) ? [content] : [];
  });
}

/** Returns a certificate as a PEM block. */
export function certificateBlock(content: string): string {
  const lines = content.match(LINE) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
