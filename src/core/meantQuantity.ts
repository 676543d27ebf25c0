/** Suggests a Kubernetes quantity for a text that is not one. Pure. */
import { parseQuantity } from "./quantity.ts";

const MAX_LENGTH = 40;
/** A number and a unit in the notation of other tools: `100MB`, `512mib`, `2 GByte`. */
const OTHER_UNITS = /^([+-]?\d+(?:\.\d+)?)([kmgtpe]?)(i?)(?:b|bytes?)?$/i;

/** Returns `100M or 100Mi` for `100MB`; undefined when there is no suggestion or the text is a quantity already. */
export function meantQuantity(text: string): string | undefined {
  if (text.length > MAX_LENGTH || parseQuantity(text) !== undefined) return undefined;
  const plain = text.replaceAll(/\s/g, "").replace(",", ".");
  if (plain !== "" && parseQuantity(plain) !== undefined) return plain;
  const [, number, unit = "", binary] = OTHER_UNITS.exec(plain) ?? [];
  if (number === undefined) return undefined;
  if (unit === "") return number;
  const binaryGuess = `${number}${unit.toUpperCase()}i`;
  const decimal = unit.toLowerCase() === "k" ? "k" : unit.toUpperCase();
  return binary === "" ? `${number}${decimal} or ${binaryGuess}` : binaryGuess;
}

/** Returns the suggestion as the end of a message: `; did you mean 100M or 100Mi?`, or an empty string. */
export function quantityHint(text: string): string {
  const meant = meantQuantity(text);
  return meant === undefined ? "" : `; did you mean ${meant}?`;
}
