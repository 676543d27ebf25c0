/** A stall of the daemon's event loop is logged with the work that caused it. */
import { expect, it, onTestFinished } from "vitest";
import { startDaemon } from "../support/daemon.ts";
import { waitFor } from "../support/waitFor.ts";
import { startRuntime, temporaryDir } from "./embeddedRuntimeSetup.ts";

/** Environment of a manifest of the maximum size, expensive to parse. */
const ENV = Array.from({ length: 16_000 }, (_, index) => `        - {name: "V${index}", value: "${"x".repeat(20)}"}`);
const HUGE = `apiVersion: v1
kind: Pod
metadata:
  name: huge
spec:
  containers:
    - name: main
      image: rxlet.dev/host
      env:
${ENV.join("\n")}
`;

it("a manifest that takes long to parse is named in the log and counted", async () => {
  const folder = temporaryDir();
  const { socketPath } = await startRuntime(folder);
  const daemon = await startDaemon({ folder, endpoint: `unix://${socketPath}` });
  onTestFinished(() => daemon.kill());
  await daemon.put("huge.yaml", HUGE);
  const line = await waitFor("the stall to be logged", async () =>
    (await daemon.logEntries()).find(
      ({ msg, stage }) => msg === "The event loop stalled" && String(stage).endsWith("huge.yaml"),
    ),
  );
  expect(line).toMatchObject({
    level: "warn",
    stage: `manifest ${daemon.manifests}/huge.yaml`,
    durationMs: expect.any(Number),
  });
  expect(Number(line["durationMs"])).toBeGreaterThanOrEqual(50);
  expect(await daemon.metric('rxlet_event_loop_stall_seconds_count{stage="manifest"}')).toBeGreaterThanOrEqual(1);
});
