/** Flags and options of `rxlet apply` and `rxlet delete`. */
import { type AppliedKind, kindOfWord } from "../core/local/appliedManifests.ts";
import type { FlagSpec, FlagType } from "./flagSpec.ts";
import { ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";
import { type LocalTarget, readSocket, SOCKET_FLAGS } from "./targetFlags.ts";

/** Options of `rxlet apply`. */
export interface ApplyOptions {
  readonly target: LocalTarget;
  /** Files and directories; `-` is standard input. */
  readonly files: readonly string[];
  readonly isDry: boolean;
}

/** An object on the command line. */
export interface NamedObject {
  readonly kind: AppliedKind;
  readonly name: string;
}

/** Options of `rxlet delete`. */
export interface DeleteOptions {
  readonly target: LocalTarget;
  /** Files whose objects are removed. */
  readonly files: readonly string[];
  readonly namespace: string;
  readonly objects: readonly NamedObject[];
  readonly isDry: boolean;
  readonly ignoresMissing: boolean;
  /** Waits until the pods have ended. */
  readonly waits: boolean;
  /** Bound of the wait in milliseconds; 0 is none. */
  readonly timeoutMs: number;
}

type Read<T> = { readonly ok: true; readonly options: T } | { readonly ok: false; readonly errors: readonly string[] };

const flag = (name: string, type: FlagType, fallback: string, about: string, short?: string): FlagSpec => ({
  ...{ group: "rxlet", effective: true, name, type, default: fallback, about },
  ...(short === undefined ? {} : { short }),
});

const FILES = flag("filename", "stringSlice", "[]", "Manifest, directory of manifests, or - for standard input", "f");
const DRY_RUN = flag("dry-run", "string", "none", "server: check, and change nothing; none");

/** Flags of `rxlet apply`. */
export const APPLY_FLAGS: readonly FlagSpec[] = [FILES, DRY_RUN, ...SOCKET_FLAGS];

/** Flags of `rxlet delete`. */
export const DELETE_FLAGS: readonly FlagSpec[] = [
  FILES,
  flag("namespace", "string", "default", "Namespace of the objects that are given by name", "n"),
  flag("ignore-not-found", "bool", "false", "Do not fail for an object that is not there"),
  flag("wait", "bool", "true", "Wait until the pods have ended"),
  flag("timeout", "duration", "0s", "Longest wait; 0s is no limit"),
  DRY_RUN,
  ...SOCKET_FLAGS,
];

/** Most files and directories of one command. */
const MAX_FILES = 1_000;

function readFiles(values: Readonly<Record<string, unknown>>) {
  const files = values["filename"] as readonly string[];
  const dryRun = String(values["dryRun"]);
  const faults: string[] = [];
  if (files.length > MAX_FILES) faults.push(`--filename: at most ${MAX_FILES} can be given`);
  if (files.some((file) => /^https?:/.test(file))) faults.push("--filename: must be a file, a directory or -");
  if (files.includes("")) faults.push("--filename: must not be empty");
  if (dryRun !== "none" && dryRun !== "server") faults.push(`--dry-run: must be none or server, got ${dryRun}`);
  return { files, isDry: dryRun === "server", faults };
}

/** Reads the options of `rxlet apply`, or returns all errors. */
export function readApplyFlags({ given, errors }: ParsedFlags): Read<ApplyOptions> {
  const values = ownFlagValues(given, APPLY_FLAGS);
  const { files, isDry, faults } = readFiles(values);
  const missing = files.length === 0 ? ["apply needs a manifest: rxlet apply -f FILE"] : [];
  const all = [...errors, ...missing, ...faults];
  return all.length > 0
    ? { ok: false, errors: all }
    : { ok: true, options: { target: readSocket(values), files, isDry } };
}

/** Reads the options of `rxlet delete`, or returns all errors. */
export function readDeleteFlags({ given, positional, errors }: ParsedFlags): Read<DeleteOptions> {
  const values = ownFlagValues(given, DELETE_FLAGS);
  const { files, isDry, faults } = readFiles(values);
  const { objects, wrong } = namedObjects(positional);
  const timeoutMs = Number(values["timeout"]);
  const all = [...errors, ...wrong, ...faults];
  if (files.length === 0 && objects.length === 0 && wrong.length === 0)
    all.push("delete needs an object or a manifest: rxlet delete pod NAME, or rxlet delete -f FILE");
  if (files.length > 0 && positional.length > 0) all.push("delete takes names or --filename, not both");
  if (timeoutMs < 0) all.push("--timeout: must not be negative");
  if (all.length > 0) return { ok: false, errors: all };
  return {
    ok: true,
    options: {
      ...{ target: readSocket(values), files, isDry, objects, timeoutMs },
      namespace: String(values["namespace"]),
      ignoresMissing: values["ignoreNotFound"] === true,
      waits: values["wait"] === true,
    },
  };
}

/** Reads `pod a b`, or `pod/a secret/b`. */
function namedObjects([first = "", ...rest]: readonly string[]): {
  readonly objects: readonly NamedObject[];
  readonly wrong: readonly string[];
} {
  if (first === "") return { objects: [], wrong: [] };
  const pairs = first.includes("/")
    ? [first, ...rest].map((text): readonly [string, string] => {
        const [kind = "", name = ""] = text.split("/", 2);
        return [kind, name];
      })
    : rest.map((name): readonly [string, string] => [first, name]);
  const wrong = pairs.flatMap(([word, name]) => {
    if (kindOfWord(word) === undefined) return [`there is no kind ${JSON.stringify(word)} to delete`];
    return name === "" || name.includes("/") ? [`${JSON.stringify(name)} is not a name`] : [];
  });
  if (pairs.length === 0) wrong.push(`the name is missing: rxlet delete ${first} NAME`);
  const objects = pairs.flatMap(([word, name]) => {
    const kind = kindOfWord(word);
    return kind === undefined ? [] : [{ kind, name }];
  });
  return { objects, wrong: [...new Set(wrong)] };
}
