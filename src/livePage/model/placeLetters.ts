/** Returns the letters of a place in its marbles: the initials of its first two words, `RI` for `registryInputs`. */
export function placeLetters(place: string): string {
  const [first = "", ...others] = place.replace(/[^A-Za-z0-9]+/g, " ").trim();
  const next = others.find((letter, at) => /[A-Z0-9]/.test(letter) || others[at - 1] === " ") ?? "";
  return `${first}${next}`.toUpperCase();
}
