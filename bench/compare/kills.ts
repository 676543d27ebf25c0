/** How soon a kubelet that was killed has done what was under way. */
import { setTimeout as pause } from "node:timers/promises";
import { type Figures, namesOf } from "./comparison.ts";
import { median } from "../figures.ts";
import type { MeasuredKubelet } from "./measuredKubelet.ts";

const PODS = 20;
/** Long enough for the requests to reach the kubelet, too short for it to finish any. */
const UNDER_WAY_MS = 300;

/** SIGKILL while twenty pods start and twenty end; times are from the signal. */
export async function killUnderLoad({ pods, killAndRestart }: MeasuredKubelet, figures: Figures): Promise<void> {
  const [leaving, coming] = [namesOf("leaving", PODS), namesOf("coming", PODS)];
  const podsOf = (names: readonly string[]) => names.map((name) => ({ name, hasToken: true }));
  await pods.start(podsOf(leaving));
  const isDone = Promise.all([pods.start(podsOf(coming)), pods.remove(leaving)]);
  await pause(UNDER_WAY_MS);
  const at = await killAndRestart();
  await isDone;
  const ready = await Promise.all(coming.map(async (name) => (await pods.ready(name)) - at));
  const gone = await Promise.all(leaving.map(async (name) => (await pods.gone(name)) - at));
  figures.set("after kill -9, pods Ready, p50 (ms)", median(ready));
  figures.set("after kill -9, pods Ready, last (ms)", Math.max(...ready));
  figures.set("after kill -9, pods gone, p50 (ms)", median(gone));
  figures.set("after kill -9, pods gone, last (ms)", Math.max(...gone));
  await pods.remove(coming);
}
