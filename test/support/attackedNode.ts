/**
 * A node of a cluster on the embedded runtime, hostile peers of its HTTPS server, and an administrator who goes on using
 * it: how long his requests take alone and under attack, how much memory the daemon takes, and what is left afterwards.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { open as openFile, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createTestAuthority, type PemIdentity } from "./apiServer/certificates.ts";
import { startHttpsApiServer } from "./apiServer/httpsApiServer.ts";
import { writeNodeKubeconfig } from "./apiServer/nodeKubeconfig.ts";
import { type Daemon, NODE_NAME, startDaemon } from "./daemon.ts";
import type { Attack, AttackCounts } from "./hostilePeer.ts";
import { unmountBelow } from "./kernelState.ts";
import { waitFor } from "./waitFor.ts";
import { openWebSocketBytes } from "./webSocketBytes.ts";
import { freePort } from "./ports.ts";

/** Measured figures. Times are those of single administrator requests, in milliseconds. */
export interface AttackFigures {
  readonly aloneMs: readonly number[];
  readonly attackedMs: readonly number[];
  /** Requests of his that he had to send again: the authority of his certificate was replaced. */
  readonly retries: number;
  /** Resident memory of the daemon before the attack, and the most during it. */
  readonly rssMib: { readonly before: number; readonly peak: number };
  /** Connections to the HTTPS server at the most, and the time until none was left after the attack, in milliseconds. */
  readonly connections: { readonly peak: number; readonly goneMs: number };
  readonly ended: AttackCounts;
  /** Token reviews that were sent to the API server, of which it answered none. */
  readonly tokenReviews: number;
}

const CONTAINER = `default/web-${NODE_NAME}/main`;
const BIG_LOG_BYTES = 600 * 1_024 * 1_024;
/** Pause between two rounds of the administrator. */
const PACE_MS = 200;
/** Retries of one administrator request. */
const MAX_RETRIES = 3;
const USERS: readonly string[] = ["attacker", "admin"];

/** Attacks for `attackMs`; in the middle of it the authority of clients is replaced. */
export async function attackNode({
  floorMs,
  attackMs,
}: {
  readonly floorMs: number;
  readonly attackMs: number;
}): Promise<AttackFigures> {
  await using ends = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "rxlet-peer-"));
  ends.defer(() => {
    unmountBelow(folder);
    return rm(folder, { recursive: true, force: true });
  });
  const bigLog = `rxlet-peer-${randomBytes(4).toString("hex")}.log`;
  ends.defer(() => rm(join("/var/log", bigLog), { force: true }));
  await using log = await openFile(join("/var/log", bigLog), "w");
  await log.truncate(BIG_LOG_BYTES);

  const server = await startHttpsApiServer({ mayAccess: ({ user = "" }) => USERS.includes(user) });
  ends.defer(() => server.close());
  const authorities = [await createTestAuthority(), await createTestAuthority()] as const;
  const identitiesOf = async (commonName: string) =>
    [await authorities[0].client({ commonName }), await authorities[1].client({ commonName })] as const;
  const authorityFile = join(folder, "clients.crt");
  const trust = async (at: 0 | 1): Promise<void> => {
    await writeFile(`${authorityFile}.new`, authorities[at].certificate);
    await rename(`${authorityFile}.new`, authorityFile);
  };
  await trust(0);
  const endpoint = `unix://${await startRuntime(folder, ends)}`;
  const port = await freePort();
  const daemon = await startDaemon({
    folder,
    endpoint,
    config: { enableServer: true, port, authentication: { x509: { clientCAFile: authorityFile } } },
    args: [`--kubeconfig=${await writeNodeKubeconfig(server, NODE_NAME, folder)}`, `--cert-dir=${folder}/pki`],
  });
  ends.defer(() => daemon.kill("SIGTERM"));
  await daemon.put("web.json", WEB);
  // Delete the pod first: its containers would outlive the runtime.
  ends.defer(async () => {
    await daemon.drop("web.json");
    await daemon.untilGone("web");
  });
  await daemon.until("web", ({ status }) => status?.phase === "Running", "running");

  const admin = administrator(port, await identitiesOf("admin"));
  await waitFor("the server to answer the administrator", () => admin.round().then(() => true));
  const aloneMs = await admin.roundsFor(floorMs);
  const figures = watch(daemon, port);
  const retriesBefore = admin.retries();
  const reviewsBefore = countReviews(server.requests);
  server.tamper((_method, url) => (url.pathname.includes("/tokenreviews") ? "hang" : undefined));
  const peers = await startPeers(
    { port, identities: await identitiesOf("attacker"), container: CONTAINER, bigLog },
    ends,
  );
  const attackedMs = await admin.roundsFor(attackMs / 2);
  await trust(1);
  attackedMs.push(...(await admin.roundsFor(attackMs / 2)));
  const retries = admin.retries() - retriesBefore;
  const ended = await peers.counts();
  const { rssMib, peakConnections } = figures.stop();
  const stoppedAt = performance.now();
  await peers.stop();
  await waitFor("all connections to be gone", async () => (await connectionsTo(port)) === 0);
  const connections = { peak: peakConnections, goneMs: performance.now() - stoppedAt };
  const tokenReviews = countReviews(server.requests) - reviewsBefore;
  await admin.round();
  return { aloneMs, attackedMs, retries, rssMib, connections, ended, tokenReviews };
}

const WEB = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web" },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: "main",
        image: "rxlet.dev/host",
        command: ["/bin/sh", "-c", "while :; do echo a line of the log; sleep 0.05; done"],
      },
    ],
  },
};

const countReviews = (requests: readonly string[]): number =>
  requests.filter((line) => line.includes("/tokenreviews")).length;

const exited = (child: ChildProcess): Promise<unknown> =>
  child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, "exit");

/** Starts the embedded runtime in a process of its own; resolves with its socket. */
async function startRuntime(folder: string, ends: AsyncDisposableStack): Promise<string> {
  const program = join(import.meta.dirname, "../e2e/embeddedRuntimeProgram.ts");
  const socketPath = join(folder, "s");
  const runtime = spawn(process.execPath, [program, socketPath, join(folder, "state")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  ends.defer(async () => {
    runtime.kill("SIGKILL");
    await exited(runtime);
  });
  await once(runtime.stdout, "data");
  return socketPath;
}

async function startPeers(attack: Attack, ends: AsyncDisposableStack) {
  const child = fork(join(import.meta.dirname, "hostilePeer.ts"));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited(child);
  };
  ends.defer(stop);
  child.send(attack);
  const counts = async (): Promise<AttackCounts> => {
    child.send("counts");
    const [answer] = (await once(child, "message")) as [AttackCounts];
    return answer;
  };
  return { counts, stop };
}

/** Lists pods, reads a log and runs a command, each on a connection of its own, as kubectl does. */
function administrator(port: number, identities: readonly [PemIdentity, PemIdentity]) {
  let at = 0;
  const options = (path: string) => {
    const { certificate: cert, key } = identities[at === 0 ? 0 : 1];
    return { host: "127.0.0.1", port, path, cert, key, rejectUnauthorized: false, agent: false as const };
  };
  const read = async (path: string): Promise<void> => {
    const request = httpsRequest(options(path)).end();
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    let text = "";
    for await (const part of answer) text += String(part);
    if (answer.statusCode !== 200 || !text.includes("a line of the log")) {
      throw new Error(`${path} answered ${answer.statusCode}: ${text.slice(0, 200)}`);
    }
  };
  const exec = async (): Promise<void> => {
    const path = `/exec/${CONTAINER}?command=echo&command=hello&output=1`;
    const { bytes } = await openWebSocketBytes(options(path), "v5.channel.k8s.io");
    let text = "";
    for await (const part of bytes) {
      text += String(part);
      if (text.includes("hello")) return;
    }
    throw new Error(`exec answered ${text}`);
  };
  const requests = [() => read("/pods"), () => read(`/containerLogs/${CONTAINER}?tailLines=1`), exec];
  let retries = 0;
  /** A certificate may lose its worth: the other one is then shown, and the time counts. */
  const timed = async (request: () => Promise<void>): Promise<number> => {
    const startedAt = performance.now();
    for (let left = MAX_RETRIES; ; left -= 1) {
      try {
        await request();
        return performance.now() - startedAt;
      } catch (thrown) {
        if (left === 0) throw thrown;
        retries += 1;
        at = 1 - at;
      }
    }
  };
  const round = async (): Promise<readonly number[]> => {
    const times: number[] = [];
    for (const request of requests) times.push(await timed(request));
    return times;
  };
  const roundsFor = async (ms: number): Promise<number[]> => {
    const times: number[] = [];
    for (const end = performance.now() + ms; performance.now() < end; ) {
      times.push(...(await round()));
      await pause(PACE_MS);
    }
    return times;
  };
  return { round, roundsFor, retries: () => retries };
}

/** Resident memory of the daemon and connections to its server, looked at until `stop`. */
function watch({ pid }: Daemon, port: number) {
  const rssMib = { before: 0, peak: 0 };
  let peakConnections = 0;
  const look = async (): Promise<void> => {
    const kib = /^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1];
    const rss = Number(kib) / 1_024;
    if (rssMib.before === 0) rssMib.before = rss;
    rssMib.peak = Math.max(rssMib.peak, rss);
    peakConnections = Math.max(peakConnections, await connectionsTo(port));
  };
  const timer = setInterval(() => void look().catch(() => {}), 250);
  void look().catch(() => {});
  return {
    stop: () => {
      clearInterval(timer);
      return { rssMib, peakConnections };
    },
  };
}

const ESTABLISHED = "01";

/** Connections that a server on this port has. */
async function connectionsTo(port: number): Promise<number> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = (await readFile("/proc/net/tcp", "utf8")).split("\n").map((line) => line.trim().split(/\s+/));
  return lines.filter(([, address, , state]) => address?.endsWith(local) === true && state === ESTABLISHED).length;
}
