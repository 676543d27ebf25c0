/**
 * The blocks of a PEM text, read about as leniently as Go's encoding/pem and written in one form. Each line is read
 * once, however many blocks begin and never end.
 */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const LINE = /.{1,64}/g;
const BEGIN = "-----BEGIN ";
const END = "-----END ";
const DASHES = "-----";

/** One block of a text. */
export interface PemBlock {
  readonly label: string;
  /** From its first dash to its last. */
  readonly text: string;
  /** Everything between the two lines with dashes. */
  readonly body: string;
}

/** The label of a line such as `-----BEGIN CERTIFICATE-----`. */
const labelIn = (line: string, opening: string): string | undefined =>
  line.startsWith(opening) && line.endsWith(DASHES) && line.length >= opening.length + DASHES.length
    ? line.slice(opening.length, -DASHES.length)
    : undefined;

/** The blocks in their order. A block that begins again, or ends as another, is left out. */
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

/** What each block holds, whatever its label, as base64 without line breaks; headers are left out. */
export function pemContents(text: string): readonly string[] {
  return pemBlocks(text).flatMap(({ body }) => {
    const lines = body.split("\n").filter((line) => !line.includes(":"));
    const content = lines.join("").replace(/\s/g, "");
    return BASE64.test(content) ? [content] : [];
  });
}

/** One certificate as a block of its own. */
export function certificateBlock(content: string): string {
  const lines = content.match(LINE) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
