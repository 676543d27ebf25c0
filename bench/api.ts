/**
 * How soon the API server has the status of pods, and what an idle node costs it: `node bench/api.ts` [pods] (root, containerd,
 * CNI plugins) against the HTTPS test double, which has a process of its own, with the rates of the defaults. The floors,
 * measured meanwhile: a status PATCH of this process to the same double and back, and a file replaced in the node's
 * folder, as before a Ready is reported.
 */
import { rename, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { firstValueFrom } from "rxjs";
import type { Pod } from "../src/core/api.ts";
import { openTestLane } from "../test/support/apiServer/testLane.ts";
import { type Daemon, NODE_NAME } from "../test/support/daemon.ts";
import { PAUSE_IMAGE } from "../test/support/images.ts";
import { type BenchApiServer, startBenchApiServer } from "./apiServer.ts";
import { onBenchNode } from "./benchNode.ts";
import { median, percentile, printFigure, printRow, printTitle, wallMs } from "./figures.ts";

const pods = Number(process.argv[2] ?? 100);
const FLOOR_PAUSE_MS = 150;
const PROBED_PODS = 5;
const PROBED_MS = 40_000;
const SETTLE_MS = 20_000;
const IDLE_MS = 120_000;
const HOUR_MS = 3_600_000;
/** Requests per hour: a lease and a look at the node every 10 s, the node's status every 5 min, five watches anew every 7.5 min. */
const UPSTREAM_REQUESTS = 360 + 360 + 12 + 5 * 8;

const bind = (
  api: BenchApiServer,
  name: string,
  more: Partial<Pod["spec"]["containers"][number]> = {},
): Promise<unknown> => {
  const containers = [{ name: "main", image: PAUSE_IMAGE, ...more }];
  return api.put(name, { nodeName: NODE_NAME, terminationGracePeriodSeconds: 1, containers });
};

interface Floors {
  readonly patches: number[];
  readonly files: number[];
}

async function timed(times: number[], action: () => Promise<unknown>): Promise<void> {
  const startedAt = wallMs();
  await action();
  times.push(wallMs() - startedAt);
}

/** Measures the floors of this machine for each part of the path, during `ms` milliseconds. */
async function floors(api: BenchApiServer, folder: string, ms: number): Promise<Floors> {
  const ref = { namespace: "default", name: "floor" };
  await api.put("floor", { nodeName: "elsewhere", containers: [{ name: "main", image: PAUSE_IMAGE }] });
  const access = await api.access();
  const lane = openTestLane(access, { identity: access.identity });
  const took: Floors = { patches: [], files: [] };
  const file = join(folder, "floor");
  for (const endAt = wallMs() + ms; wallMs() < endAt; ) {
    const body = { status: { message: `at ${wallMs()}` } };
    const patch = { type: "application/strategic-merge-patch+json", body } as const;
    await timed(took.patches, () => firstValueFrom(lane.port.patch("pods", ref, patch, { subresource: "status" })));
    await timed(took.files, () =>
      writeFile(`${file}.new`, body.status.message).then(() => rename(`${file}.new`, file)),
    );
    await pause(FLOOR_PAUSE_MS);
  }
  lane.close();
  return took;
}

/** Pods whose readiness changes with every probe: from the probe's answer to the PATCH that tells of it. */
async function idleNode(
  api: BenchApiServer,
  folder: string,
): Promise<Floors & { readonly reported: readonly number[] }> {
  const answered = new Map<string, number[]>();
  const target = createServer(({ url = "" }, response) => {
    const name = url.slice(1);
    const times = answered.get(name) ?? [];
    response.statusCode = times.length % 2 === 0 ? 200 : 500;
    answered.set(name, [...times, wallMs()]);
    response.end();
  });
  await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
  const { port } = target.address() as AddressInfo;
  const names = Array.from({ length: PROBED_PODS }, (_, index) => `probed-${index}`);
  for (const name of names) {
    const httpGet = { host: "127.0.0.1", port, path: `/${name}` };
    await bind(api, name, { readinessProbe: { httpGet, periodSeconds: 1, failureThreshold: 1 } });
  }
  await api.untilReady(names);
  // Wait for start-up to settle: it is not part of an idle node's cost.
  await pause(SETTLE_MS);
  const startedAt = wallMs();
  const bare = await floors(api, folder, PROBED_MS);
  const reported = await api.readyChanges();
  await api.remove(names);
  await api.untilGone(names);
  target.close();
  const sinceAnswer = (name: string, at: number): number =>
    at - (answered.get(name)?.findLast((time) => time <= at) ?? Number.NaN);
  const since = (name: string): readonly number[] => (reported.get(name) ?? []).filter((at) => at >= startedAt);
  return { ...bare, reported: names.flatMap((name) => since(name).map((at) => sinceAnswer(name, at))) };
}

/** When the daemon itself turned a pod Ready. */
async function turnedReadyAt(daemon: Daemon, name: string): Promise<number> {
  const answer = await fetch(`${daemon.readOnlyUrl}/debug/rxlet/pods/default/${name}/timeline`);
  const { entries } = (await answer.json()) as { readonly entries: readonly { readonly at: string; what: string }[] };
  return Date.parse(entries.find(({ what }) => what === "Ready")?.at ?? "");
}

interface Burst {
  readonly lateness: readonly number[];
  readonly tookMs: number;
  readonly patches: number;
}

async function burst(api: BenchApiServer, daemon: Daemon): Promise<Burst> {
  const names = Array.from({ length: pods }, (_, index) => `idle-${index}`);
  const from = (await api.requestsSince(0)).length;
  const startedAt = wallMs();
  await Promise.all(names.map((name) => bind(api, name)));
  await api.untilReady(names);
  const tookMs = wallMs() - startedAt;
  const ready = await api.readyChanges();
  const lateness: number[] = [];
  for (const name of names) lateness.push((ready.get(name)?.[0] ?? Number.NaN) - (await turnedReadyAt(daemon, name)));
  const patches = (await api.requestsSince(from)).filter((line) => /^PATCH .*\/pods\/.*\/status/.test(line)).length;
  return { lateness, tookMs, patches };
}

/** Sum of the samples of a metric. */
const total = (page: string, name: string): number =>
  [...page.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "gm"))].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  );

async function idleHour(api: BenchApiServer, daemon: Daemon): Promise<void> {
  await pause(SETTLE_MS);
  const [before, { length: from }, startedAt] = [await daemon.metrics(), await api.requestsSince(0), wallMs()];
  await pause(IDLE_MS);
  const perHour = HOUR_MS / (wallMs() - startedAt);
  const after = await daemon.metrics();
  const bytes = (name: string): number => ((total(after, name) - total(before, name)) * perHour) / 1024;
  console.log(`\n${pods} idle pods, per hour, from ${IDLE_MS / 1000} s`);
  const requests = await api.requestsSince(from);
  printFigure("requests", requests.length * perHour, "", `aim: ${UPSTREAM_REQUESTS}, what upstream's defaults imply`);
  const kinds = Map.groupBy(requests, kindOf);
  for (const [kind, all] of kinds) printFigure(`  ${kind}`, all.length * perHour, "");
  printFigure("bodies sent", bytes("rest_client_request_size_bytes_sum"), "KiB");
  printFigure("bodies received, watches not counted", bytes("rest_client_response_size_bytes_sum"), "KiB");
}

/** Method and resource. */
function kindOf(line: string): string {
  const [method = "", path = ""] = line.split(" ");
  const verb = path.includes("watch=") ? "WATCH" : method;
  const [plain = ""] = path.split("?");
  return `${verb} ${/(leases|nodes|pods|events|services|runtimeclasses|csidrivers|configmaps|secrets)/.exec(plain)?.[1] ?? plain}`;
}

const api = await startBenchApiServer();
try {
  await onBenchNode(
    async ({ daemon, folder }) => {
      const { reported: idle, patches: bare, files } = await idleNode(api, folder);
      const { lateness, tookMs, patches } = await burst(api, daemon);
      printTitle("status change -> PATCH received, ms");
      printRow("floor: PATCH there and back", bare);
      printRow("floor: a file replaced", files);
      printRow(`idle node: a probe answered -> Ready told, ${idle.length} times`, idle, "aim: p99 20");
      printRow(`${pods} pods at once: Ready in the daemon -> told`, lateness, "aim: p99 100");
      printFigure("idle node, ratio of p50 to the floor's", median(idle) / median(bare), "x");
      printFigure("idle node, ratio of p99 to the floor's", percentile(idle, 99) / percentile(bare, 99), "x");
      printFigure(`${pods} pods at once, until the last is told Ready`, tookMs / 1000, "s");
      printFigure("status PATCHes per pod", patches / pods, "");
      await idleHour(api, daemon);
    },
    async (folder) => ["--kubeconfig", await api.kubeconfig(folder)],
  );
} finally {
  api.close();
}
