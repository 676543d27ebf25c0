/** Dashboard and alerts in packaging/monitoring, against a real Prometheus that scrapes a node. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { metricTable } from "../../src/core/telemetry/metricTable.ts";
import { findProgram } from "../support/findProgram.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { freePort } from "../support/ports.ts";
import { removeFolder } from "../support/removeFolder.ts";
import { waitFor } from "../support/waitFor.ts";
import { HOST, type LocalNode, startLocalNode } from "./localNode.ts";
import { manifest, script } from "./manifests.ts";

const TITLE = "dashboard and alerts";
const MISSING = ["prometheus", "promtool"].filter((program) => findProgram(program) === undefined);
const packaged = (name: string): Promise<string> =>
  readFile(new URL(`../../packaging/monitoring/${name}`, import.meta.url), "utf8");

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}
interface Rule {
  readonly alert: string;
  readonly expr: string;
}

/** Metrics that the kubernetes-mixin reads of a kubelet; `go_goroutines` has no meaning without Go. */
const MIXIN_METRICS = [
  ...["kubelet_node_name", "kubelet_running_pods", "kubelet_running_containers", "volume_manager_total_volumes"],
  ...["kubelet_runtime_operations_total", "kubelet_runtime_operations_duration_seconds_bucket"],
  ...["kubelet_pod_start_duration_seconds_bucket", "kubelet_pod_start_duration_seconds_count"],
  ...["kubelet_pod_worker_duration_seconds_bucket", "kubelet_pod_worker_duration_seconds_count"],
  ...["storage_operation_duration_seconds_bucket", "storage_operation_duration_seconds_count"],
  ...["kubelet_cgroup_manager_duration_seconds_bucket", "kubelet_cgroup_manager_duration_seconds_count"],
  ...["kubelet_pleg_relist_duration_seconds_bucket", "kubelet_pleg_relist_duration_seconds_count"],
  ...["kubelet_pleg_relist_interval_seconds_bucket", "process_resident_memory_bytes", "process_cpu_seconds_total"],
];
/** Families of them that a node without cgroups, volumes and a cluster does not have yet. */
const FAMILIES_OF_OTHERS = /^(?:storage_operation|kubelet_cgroup_manager|volume_manager)/;

/** Panels that may be empty for a standalone node without trouble. */
const WITHOUT_TROUBLE: ReadonlySet<string> = new Set([
  ...["Bugs", "Dropped", "Event loop: stalls", "Failed calls", "Given up for want of memory", "Log rotations"],
  ...["Duration of requests, 99th percentile", "Requests to the API server"],
]);

describe.skipIf(mustSkip(TITLE, MISSING))(TITLE, () => {
  let folder: string;
  let node: LocalNode;
  let url: string;
  let stop: () => Promise<void>;
  const query = async (
    expr: string,
  ): Promise<{ readonly status: string; readonly error?: string; readonly count: number }> => {
    const answer = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expr })}`);
    const { status, error, data } = (await answer.json()) as {
      readonly status: string;
      readonly error?: string;
      readonly data?: { readonly result: readonly unknown[] };
    };
    return { status, ...(error === undefined ? {} : { error }), count: data?.result.length ?? 0 };
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-prometheus-"));
    node = await startLocalNode();
    await node.daemon.put("crasher.json", manifest("crasher", { containers: [script("main", "exit 3", HOST)] }));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const target = new URL(node.daemon.readOnlyUrl).host;
    const configuration = {
      global: { scrape_interval: "500ms" },
      scrape_configs: [{ job_name: "kubelet", static_configs: [{ targets: [target] }] }],
    };
    await writeFile(join(folder, "prometheus.json"), JSON.stringify(configuration));
    const server = spawn(
      "prometheus",
      [
        `--config.file=${folder}/prometheus.json`,
        `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: "ignore" },
    );
    const ended = once(server, "exit");
    stop = async () => {
      server.kill("SIGKILL");
      await ended;
    };
    await waitFor("two scrapes of a pod that ran", async () => {
      const { count } = await query(
        'changes(kubelet_running_pods[1m]) or rate(rxlet_events_total{reason="BackOff"}[1m])',
      );
      return count > 1;
    });
  });
  afterAll(async () => {
    await stop();
    await node.close();
    await removeFolder(folder);
  });

  it("has alerts without faults, each about metrics that exist", async () => {
    const rules = await packaged("prometheus-rules.yaml");
    await writeFile(join(folder, "rules.yaml"), rules);
    const checked = spawnSync("promtool", ["check", "rules", `${folder}/rules.yaml`], { encoding: "utf8" });
    expect([checked.status, checked.stderr]).toEqual([0, ""]);
    const { groups } = parse(rules) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
    for (const { alert, expr } of groups.flatMap((group) => group.rules)) {
      expect([alert, await query(expr)], expr).toEqual([alert, { status: "success", count: expect.any(Number) }]);
      expect(unknownMetrics(expr)).toEqual([]);
    }
  });

  it("has a dashboard of queries that Prometheus answers, about metrics that exist", async () => {
    const { panels } = JSON.parse(await packaged("grafana-dashboard.json")) as { readonly panels: readonly Panel[] };
    const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
    expect(queries.length).toBeGreaterThan(20);
    const empty: string[] = [];
    for (const { title, expr } of queries) {
      const { status, count, error } = await query(expr.replaceAll(/\$(?:job|instance)/g, ".*"));
      expect([title, status, error]).toEqual([title, "success", undefined]);
      expect(unknownMetrics(expr)).toEqual([]);
      if (count === 0) empty.push(title);
    }
    expect(empty.filter((title) => !WITHOUT_TROUBLE.has(title))).toEqual([]);
  });

  it.each(MIXIN_METRICS.filter((name) => !FAMILIES_OF_OTHERS.test(name)))(
    "has the metric %s of the mixin",
    async (name) => {
      expect((await query(name)).count).toBeGreaterThan(0);
    },
  );

  it("knows the other metrics of the mixin", () => {
    expect(MIXIN_METRICS.flatMap(unknownMetrics)).toEqual([]);
  });
});

/** Returns the names in an expression that look like metrics and are in no table. */
function unknownMetrics(expr: string): readonly string[] {
  const names = expr.match(/\b(?:rxlet|kubelet|process|rest_client|storage|volume)_[a-z_]+/g) ?? [];
  return names.filter(
    (name) =>
      !Object.hasOwn(metricTable, name.replace(/_(?:bucket|sum|count)$/, "")) && !Object.hasOwn(metricTable, name),
  );
}
