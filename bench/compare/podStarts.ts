/** Starts and ends of one pod after the other: from the API server and from files. */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { manifestOf } from "../benchNode.ts";
import { wallMs } from "../figures.ts";
import { type Figures, namesOf, note, SETTLE_MS } from "./comparison.ts";
import type { MeasuredKubelet } from "./measuredKubelet.ts";

const RUNS = 20;

/** Pods of the API server, with and without a token. */
export async function singlePods({ pods }: MeasuredKubelet, figures: Figures): Promise<void> {
  const removals: number[] = [];
  for (const hasToken of [true, false]) {
    const starts: number[] = [];
    for (const name of namesOf(hasToken ? "token" : "plain", RUNS)) {
      starts.push(...(await pods.start([{ name, hasToken }])));
      await pause(SETTLE_MS);
      removals.push(...(await pods.remove([name])));
      await pause(SETTLE_MS);
    }
    note(figures, `create -> Ready, ${hasToken ? "token volume" : "no token volume"}`, starts);
  }
  note(figures, "delete -> gone, grace 1 s", removals);
}

/** Pods of files. */
export async function staticPods(kubelet: MeasuredKubelet, figures: Figures): Promise<void> {
  const { pods, folder, manifests, nodeName } = kubelet;
  const starts: number[] = [];
  for (const name of namesOf("static", RUNS)) {
    const aside = join(folder, `${name}.json`);
    await writeFile(aside, JSON.stringify(manifestOf(name)));
    const at = wallMs();
    await rename(aside, join(manifests, `${name}.json`));
    starts.push((await pods.ready(`${name}-${nodeName}`)) - at);
    await pause(SETTLE_MS);
    await rm(join(manifests, `${name}.json`));
    await pods.gone(`${name}-${nodeName}`);
  }
  note(figures, "static file -> Ready", starts);
}
