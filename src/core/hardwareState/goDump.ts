/**
 * Text that upstream computes checksums of: Go values as the library spew prints them with `%#v`. Upstream:
 * k8s.io/utils/dump, pkg/kubelet/checkpointmanager/checksum.
 */

/** Prints a map, sorted by key as Go sorts it. Strings are sorted by code units, which is Go's order for ASCII. */
export const mapText = <K extends string | number, V>(
  entries: ReadonlyMap<K, V>,
  valueText: (value: V) => string,
): string =>
  `map[${[...entries]
    .sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
    .map(([key, value]) => `${key}:${valueText(value)}`)
    .join(" ")}]`;

/** Prints a list. */
export const listText = <V>(values: readonly V[], valueText: (value: V) => string): string =>
  `[${values.map(valueText).join(" ")}]`;

/** Prints a struct: fields by name, each with the name of its Go type. */
export const structText = (fields: Readonly<Record<string, readonly [type: string, text: string | number]>>): string =>
  `{${Object.entries(fields)
    .map(([name, [type, text]]) => `${name}:(${type})${text}`)
    .join(" ")}}`;
