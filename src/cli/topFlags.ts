/** Flags and options of `rxlet top`. */
import { ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";
import type { FlagSpec } from "./flagSpec.ts";
import { NODE_PAGE_FLAGS, readNodePageFlags } from "./showFlags.ts";
import type { KubeletTarget } from "./targetFlags.ts";
import { TOP_VIEWS, type TopView } from "./top/topBody.ts";

/** The node to watch, and what to show first. */
export interface TopOptions {
  readonly target: KubeletTarget;
  readonly view: TopView;
  /** Prints the view once and ends, as it does without a terminal. */
  readonly once: boolean;
}

const base = { group: "rxlet", effective: true } as const;
const VIEW: FlagSpec = {
  ...base,
  ...{ name: "view", type: "string", default: TOP_VIEWS[0], about: `View to show first: ${TOP_VIEWS.join(", ")}` },
};

/** Flags of `rxlet top`. */
export const TOP_FLAGS: readonly FlagSpec[] = [
  VIEW,
  { ...base, name: "once", type: "bool", default: "false", about: "Print the view once and end" },
  ...NODE_PAGE_FLAGS.filter(({ name }) => name !== "output"),
];

/** Returns the options, or everything that is wrong with them. */
export function readTopFlags(
  parsed: ParsedFlags,
): { readonly ok: true; readonly options: TopOptions } | { readonly ok: false; readonly errors: readonly string[] } {
  const values = ownFlagValues(parsed.given, TOP_FLAGS);
  const asked = String(values["view"]);
  const view = TOP_VIEWS.find((name) => name === asked);
  const faults =
    view === undefined ? [`--view: must be one of ${TOP_VIEWS.join(", ")}, got ${JSON.stringify(asked)}`] : [];
  const read = readNodePageFlags({ ...parsed, errors: [...parsed.errors, ...faults] });
  if (!read.ok || view === undefined) return { ok: false, errors: read.ok ? faults : read.errors };
  return { ok: true, options: { target: read.options.target, view, once: values["once"] === true } };
}
