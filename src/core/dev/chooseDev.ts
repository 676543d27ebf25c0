/** Chooses the `rxlet dev` instance that a command connects to. */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import { type DevInstance, kubeconfigOf } from "./devInstance.ts";

/** The inputs of the choice. */
export interface DevChoice {
  /** Directory of `--dev`, symbolic links resolved; undefined when the flag is absent. */
  readonly dir: string | undefined;
  /** `$KUBECONFIG`, or empty. */
  readonly kubeconfig: string;
  /** The current directory, symbolic links resolved. */
  readonly cwd: string;
}

/**
 * Returns the instance; undefined when none runs and no directory was given. Rules, first match wins: the given
 * directory; the only running instance; the instance whose kubeconfig is in use; the instance whose manifests are
 * nearest to the current directory (above or below it). Errors: NotFound for a directory without an instance,
 * InvalidArgument when several match.
 */
export function chooseDev(
  running: readonly DevInstance[],
  { dir, kubeconfig, cwd }: DevChoice,
): Result<DevInstance | undefined> {
  if (dir !== undefined)
    return onlyOf(running.filter(({ manifests }) => manifests === dir)) ?? nothingRuns(dir, running);
  if (running.length <= 1) return ok(running[0]);
  const configured = running.filter((instance) => kubeconfig.split(":").includes(kubeconfigOf(instance)));
  return onlyOf(configured) ?? onlyOf(nearest(running, cwd)) ?? severalRun(running);
}

const onlyOf = (found: readonly DevInstance[]): Result<DevInstance> | undefined => {
  const [first, second] = found;
  return first === undefined || second !== undefined ? undefined : ok(first);
};

function nearest(running: readonly DevInstance[], cwd: string): readonly DevInstance[] {
  const distances = running.map(({ manifests }) => distance(manifests, cwd));
  const least = Math.min(...distances);
  return running.filter((_, at) => distances[at] === least && least !== Number.POSITIVE_INFINITY);
}

const stepsOf = (path: string): readonly string[] => path.split("/").filter((step) => step !== "");

/** Returns the number of steps between two directories of which one contains the other; infinite for others. */
function distance(a: string, b: string): number {
  const [shorter = [], longer = []] = [stepsOf(a), stepsOf(b)].sort((x, y) => x.length - y.length);
  const contains = shorter.every((step, at) => step === longer[at]);
  return contains ? longer.length - shorter.length : Number.POSITIVE_INFINITY;
}

const listed = (running: readonly DevInstance[]): string =>
  running.map(({ manifests, pid }) => `\n  ${manifests}  (pid ${pid})`).join("");

function nothingRuns(dir: string, running: readonly DevInstance[]): Result<never> {
  const same = running.filter(({ manifests }) => manifests === dir);
  if (same.length > 1) return severalRun(same);
  const others = running.length === 0 ? "" : `; running:${listed(running)}`;
  return err(kubeletError("NotFound", `you have no rxlet dev running on ${dir}${others}`));
}

const severalRun = (running: readonly DevInstance[]): Result<never> =>
  err(
    kubeletError(
      "InvalidArgument",
      `you have several rxlet dev running; choose one with --dev DIR or its KUBECONFIG:${listed(running)}`,
    ),
  );
