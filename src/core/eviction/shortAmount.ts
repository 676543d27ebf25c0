/** Amounts of resources in a few characters. */

const UNITS = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const STEP = 1024;

/** Formats bytes with at most four digits: `0`, `100Mi`, `1.5Gi`, `-2Ki`; other amounts in full. */
export function shortAmount(amount: number, unit: "bytes" | "inodes" | "pids"): string {
  if (unit !== "bytes") return String(Math.round(amount));
  let rest = Math.abs(amount);
  let power = 0;
  // 1023.5 of a unit would round to 1024.
  while (rest >= STEP - 0.5 && power < UNITS.length - 1) {
    rest /= STEP;
    power += 1;
  }
  const digits = rest < 10 && power > 0 ? Number(rest.toFixed(1)) : Math.round(rest);
  return digits === 0 ? "0" : `${amount < 0 ? "-" : ""}${digits}${UNITS[power] ?? ""}`;
}
