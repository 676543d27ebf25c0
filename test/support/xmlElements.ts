/** Reads well-formed XML without declarations, comments and sections, as our pictures are. */

export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** Characters between its tags, without those of elements in it, as they are written. */
  text: string;
}

const NAME = "[A-Za-z][A-Za-z0-9-]*";
const TAG = new RegExp(`<(/?)(${NAME})((?: ${NAME}="[^"<]*")*)(/?)>`, "y");
const ATTRIBUTE = new RegExp(` (${NAME})="([^"]*)"`, "g");
/** Characters that XML has, an ampersand only at the start of an entity. */
const CHARACTERS =
  /(?:[\t\n\r\u0020-\u0025\u0027-\u003b=?-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|&(?:amp|lt|gt|quot);)*/uy;

/** Returns all elements in the order of their start tags. Throws an Error for a document that is not well-formed. */
export function xmlElements(document: string): readonly XmlElement[] {
  const all: XmlElement[] = [];
  const open: XmlElement[] = [];
  for (let at = 0; at < document.length; ) {
    const [text = ""] = matchAt(CHARACTERS, document, at) ?? [];
    const top = open.at(-1);
    if (top !== undefined) top.text += text;
    else if (text.trim() !== "") throw new Error(`text outside the root: ${text.slice(0, 40)}`);
    at += text.length;
    if (at === document.length) break;
    const tag = matchAt(TAG, document, at);
    if (tag === undefined) throw new Error(`neither a tag nor text: ${document.slice(at, at + 40)}`);
    const [whole, end, name = "", attributes = "", isEmpty] = tag;
    at += whole.length;
    if (end === "/") {
      if (open.pop()?.name !== name) throw new Error(`</${name}> ends another element`);
      continue;
    }
    if (top === undefined && all.length > 0) throw new Error(`a second root: ${name}`);
    const element = { name, attributes: attributesOf(attributes), text: "" };
    all.push(element);
    if (isEmpty !== "/") open.push(element);
  }
  if (all.length === 0 || open.length > 0)
    throw new Error(`open at the end: ${open.map(({ name }) => name).join(" ")}`);
  return all;
}

function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | undefined {
  expression.lastIndex = at;
  return expression.exec(text) ?? undefined;
}

function attributesOf(text: string): ReadonlyMap<string, string> {
  const pairs = [...text.matchAll(ATTRIBUTE)].map(([, name = "", value = ""]) => [name, value] as const);
  const attributes = new Map(pairs);
  if (attributes.size < pairs.length) throw new Error(`an attribute twice:${text}`);
  for (const [, value] of pairs) {
    if (matchAt(CHARACTERS, value, 0)?.[0] !== value) throw new Error(`no value of an attribute: ${value}`);
  }
  return attributes;
}
