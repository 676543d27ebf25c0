/** The message about a pod that this node does not run: its manifest was rejected, or the name is misspelt. */
import { closestName } from "../config/closestName.ts";
import { problemText } from "../pod/manifest/problemText.ts";
import type { ManifestProblem } from "../pod/sourceSnapshot.ts";

/** Maximum number of names and problems to list. */
const MAX_LISTED = 10;

/**
 * Returns the message. Its first line starts with `pod` for a rejected pod, else with `no pod`. `known` are pods as
 * `namespace/name`. Names of static pods end in the node's name, so a name without that suffix matches too.
 */
export function unknownPodMessage(
  namespace: string,
  name: string,
  known: readonly string[],
  problems: readonly ManifestProblem[],
): string {
  const errors = problems.filter(({ severity }) => severity === "error");
  // A known pod runs an earlier version of its manifest or another manifest of the same name, so it was not rejected.
  const unknown = errors.filter(({ pod }) => pod !== undefined && !known.includes(`${pod.namespace}/${pod.name}`));
  const refused = refusedName(namespace, name, unknown);
  if (refused !== undefined) {
    const own = errors.filter(({ pod }) => pod?.namespace === namespace && pod.name === refused);
    return listed(`pod ${JSON.stringify(`${namespace}/${refused}`)} was rejected`, own);
  }
  const said = `no pod ${JSON.stringify(`${namespace}/${name}`)} on this node; ${hint(`${namespace}/${name}`, known)}`;
  const nameless = errors.filter(({ pod }) => pod === undefined);
  return nameless.length === 0 ? said : `${said}\n${listed("these manifests define no usable pod", nameless)}`;
}

/** Returns the name of the only rejected pod with this name, with or without the node's name. */
function refusedName(namespace: string, name: string, errors: readonly ManifestProblem[]): string | undefined {
  const names = new Set(errors.flatMap(({ pod }) => (pod?.namespace === namespace ? [pod.name] : [])));
  if (names.has(name)) return name;
  const [first, ...others] = [...names].filter((each) => each.startsWith(`${name}-`));
  return others.length === 0 ? first : undefined;
}

function listed(title: string, problems: readonly ManifestProblem[]): string {
  const [only, ...others] = problems;
  if (only !== undefined && others.length === 0) return `${title}: ${problemText(only)}`;
  const lines = problems.slice(0, MAX_LISTED).map((problem) => `  ${problemText(problem)}`);
  const more = problems.length - lines.length;
  return [`${title}:`, ...lines, ...(more > 0 ? [`  ... and ${more} more`] : [])].join("\n");
}

/** Suggests other names. */
function hint(wanted: string, known: readonly string[]): string {
  if (known.length === 0) return "it has no pods";
  const guesses = closeTo(wanted, known);
  if (guesses.length > 0) return `did you mean ${names(guesses, " or ")}?`;
  return `its pods are ${names(known, ", ")}`;
}

/** Returns pods with this name and a suffix, else pods of other namespaces, else the closest name. */
function closeTo(wanted: string, known: readonly string[]): readonly string[] {
  const name = wanted.slice(wanted.indexOf("/") + 1);
  const searches: readonly ((each: string) => boolean)[] = [
    (each) => each.startsWith(`${wanted}-`),
    (each) => each.endsWith(`/${name}`),
    (each) => each.includes(`/${name}-`),
  ];
  for (const search of searches) {
    const found = known.filter(search);
    if (found.length > 0) return found;
  }
  const closest = closestName(wanted, known);
  return closest === undefined ? [] : [closest];
}

function names(all: readonly string[], separator: string): string {
  const shown = all.slice(0, MAX_LISTED).join(separator);
  return all.length > MAX_LISTED ? `${shown} and ${all.length - MAX_LISTED} more` : shown;
}
