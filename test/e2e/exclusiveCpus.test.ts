/** CPUs for containers alone, on a node that reserves one: the cgroups of the kernel show where each container runs. */
import { execFile } from "node:child_process";
import { cpus } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import type { Container } from "../../src/core/api.ts";
import type { HardwareView } from "../../src/core/hardwareView/hardwareView.ts";
import { podResourcesSocket } from "../../src/core/paths.ts";
import { BUILT_MAIN } from "../support/builtProgram.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { podResourcesClient } from "../support/podResourcesClient.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script } from "./manifests.ts";

/** Writes the CPUs on which it may run whenever they change. */
const WATCH =
  'last=""; while :; do now=$(sed -n "s/Cpus_allowed_list:\\t*//p" /proc/self/status); ' +
  '[ "$now" = "$last" ] || echo "cpus $now"; last=$now; sleep 0.2; done';
const WHOLE_CPU = { cpu: "1", memory: "32Mi" };
const LAST_CPU = cpus().length - 1;
const ALL = `0-${LAST_CPU}`;

/** Runs `rxlet resources` to its end. */
const resources = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, [BUILT_MAIN, "resources", ...args])).stdout;

describeOnContainerd("exclusive CPUs on containerd", (installation) => {
  const node = containerdNode(installation, {
    config: { cpuManagerPolicy: "static", reservedSystemCPUs: "0", cpuManagerReconcilePeriod: "1s" },
  });
  const put = (name: string, resources: NonNullable<Container["resources"]> = {}) =>
    node.daemon.put(`${name}.json`, manifest(name, { containers: [script("main", WATCH, { resources })] }));
  const runs = (name: string) => node.daemon.until(name, ({ status }) => status?.phase === "Running", "Running");

  it("are left by all other containers at once, survive kill -9 of the daemon, and are shared again afterwards", async () => {
    const { daemon } = node;
    await put("shares");
    const shares = await runs("shares");
    await node.untilOutput(shares, "main", `cpus ${ALL}`);
    await put("alone", { requests: WHOLE_CPU, limits: WHOLE_CPU });
    const alone = await runs("alone");
    await node.untilOutput(alone, "main", "cpus 1");
    await node.untilOutput(shares, "main", LAST_CPU === 1 ? "cpus 0" : `cpus 0,2-${LAST_CPU}`);

    const agent = podResourcesClient(podResourcesSocket({ rootDir: join(daemon.folder, "kubelet") }));
    const ownCpus = async (): Promise<readonly string[]> => {
      const { podResources } = await agent.list();
      return podResources.flatMap(({ name, containers }) =>
        containers.map(({ cpuIds }) => `${name}: ${cpuIds.join()}`),
      );
    };
    const listed = [`shares-${daemon.nodeName}: `, `alone-${daemon.nodeName}: 1`];
    expect(await ownCpus()).toEqual(listed);
    expect((await agent.allocatable()).cpuIds).toEqual(
      cpus()
        .slice(1)
        .map((_, index) => BigInt(index + 1)),
    );

    await daemon.kill("SIGKILL");
    await daemon.restart();
    await waitFor("the same answer after the restart", async () => {
      const now = await ownCpus().catch((): readonly string[] => []);
      return listed.every((line) => now.includes(line));
    });
    agent.close();
    const owner = { namespace: "default", pod: `alone-${daemon.nodeName}`, container: "main" };
    const map = JSON.parse(await resources("--server", daemon.readOnlyUrl, "-o", "json")) as HardwareView;
    expect(map.cpus).toMatchObject({ online: ALL, reserved: "0", shared: LAST_CPU === 1 ? "0" : `0,2-${LAST_CPU}` });
    expect(map.nodes.flatMap(({ owned }) => owned.first)).toEqual([{ cpus: "1", owner }]);
    expect(await resources("--server", daemon.readOnlyUrl)).toContain(
      `CPU 1                 default/${owner.pod} main`,
    );
    await put("later");
    const later = await runs("later");
    await node.untilOutput(later, "main", LAST_CPU === 1 ? "cpus 0" : `cpus 0,2-${LAST_CPU}`);
    const count = () => daemon.metric("kubelet_cpu_manager_exclusive_cpu_allocation_count");
    await waitFor("the gauge to count the CPU", async () => (await count()) === 1);

    await daemon.drop("alone.json");
    await waitFor(
      "the pod to be gone",
      async () => !(await daemon.pods()).some(({ metadata }) => metadata.name.startsWith("alone")),
    );
    await node.untilOutput(later, "main", `cpus ${ALL}`);
    await waitFor("the pod of before to run on all CPUs again", async () => {
      const lines = await node.untilOutput(shares, "main", `cpus ${ALL}`);
      return lines.filter((line) => line === `cpus ${ALL}`).length === 2;
    });
  });
});
