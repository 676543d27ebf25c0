/** The daemon's log lines at each verbosity, with a pod on the embedded runtime. */
import { expect, it, onTestFinished } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { startDaemon } from "../support/daemon.ts";
import { startRuntime, temporaryDir } from "./embeddedRuntimeSetup.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";

const HOST = { image: "rxlet.dev/host", readinessProbe: { exec: { command: ["/bin/true"] }, periodSeconds: 1 } };
/** The lowest verbosity that writes a line like it. */
const LINES: readonly (readonly [level: number, message: RegExp])[] = [
  [0, /^Starting kubelet$/],
  [1, /^FLAG: --max-pods="110"$/],
  [2, /^SyncLoop ADD$/],
  [3, /^Pod status changed$/],
  [5, /^Runtime called$/],
  [5, /^Configuration$/],
  [7, /^Runtime event$/],
  [8, /^Probed$/],
  [9, /^Pod inspected$/],
];
const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;

it.each([0, 2, 5, 7, 10])("verbosity %i has its lines and those of all below", async (verbosity) => {
  const folder = temporaryDir();
  const { socketPath } = await startRuntime(folder);
  const config = { logging: { format: "json", verbosity } };
  const daemon = await startDaemon({ folder, endpoint: `unix://${socketPath}`, config });
  onTestFinished(() => daemon.kill());
  await daemon.put("web.json", manifest("web", { containers: [script("main", UNTIL_TERM, HOST)] }));
  await daemon.until("web", isReady, "Ready");
  const entries = await daemon.logEntries();
  const found = LINES.map(([level, message]) => [level, entries.find(({ msg }) => message.test(msg))?.["v"]]);
  expect(found).toEqual(LINES.map(([level]) => [level, level <= verbosity ? level : undefined]));
});
