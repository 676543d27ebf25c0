/** The read-only server and the metrics report pods on a real containerd. */
import { expect, it } from "vitest";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script, server } from "./manifests.ts";

describeOnContainerd("the read-only API on containerd", (installation) => {
  const node = containerdNode(installation);
  const get = async (path: string): Promise<unknown> => (await fetch(`${node.daemon.readOnlyUrl}${path}`)).json();

  it("lists pods with their statuses, running pods from the runtime, and reads only", async () => {
    const { daemon } = node;
    await daemon.put(
      "web.json",
      manifest("web", { containers: [server()] }, { namespace: "demo", labels: { app: "web" } }),
    );
    await daemon.put("job.json", manifest("job", { restartPolicy: "Never", containers: [script("main", "true")] }));
    await daemon.until("job", ({ status }) => status?.phase === "Succeeded", "Succeeded");
    const web = await daemon.until("web", ({ status }) => status?.phase === "Running", "Running");
    const { uid } = web.metadata;
    const [container] = await node.containers(uid);
    expect(web).toMatchObject({
      metadata: {
        name: "web-test-node",
        namespace: "demo",
        labels: { app: "web" },
        annotations: {
          "kubernetes.io/config.hash": uid,
          "kubernetes.io/config.seen": expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
          "kubernetes.io/config.source": "file",
        },
      },
      spec: {
        nodeName: "test-node",
        restartPolicy: "Always",
        tolerations: [{ operator: "Exists", effect: "NoExecute" }],
      },
      status: {
        phase: "Running",
        qosClass: "BestEffort",
        containerStatuses: [
          {
            name: "main",
            ready: true,
            started: true,
            restartCount: 0,
            state: { running: { startedAt: expect.any(String) } },
            image: "rxlet.test/busybox:1",
            imageID: expect.stringMatching(/^sha256:/),
            containerID: `containerd://${container?.id}`,
          },
        ],
      },
    });
    const conditions = web.status?.conditions?.map(({ type, status }) => [type, status]);
    expect(Object.fromEntries(conditions ?? [])).toEqual({
      PodReadyToStartContainers: "True",
      Initialized: "True",
      Ready: "True",
      ContainersReady: "True",
      PodScheduled: "True",
    });
    expect(await get("/pods")).toMatchObject({ kind: "PodList", apiVersion: "v1", metadata: {} });
    const running = (await get("/runningpods/")) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    expect(running.items.find(({ metadata }) => metadata.name === "web-test-node")).toEqual({
      metadata: { name: "web-test-node", namespace: "demo", uid },
      spec: { containers: [{ name: "main", image: expect.any(String), resources: {} }] },
      status: {},
    });
    expect((await fetch(`${daemon.readOnlyUrl}/pods`, { method: "POST" })).status).toBe(405);
    expect((await fetch(`${daemon.readOnlyUrl}/nothing`)).status).toBe(404);
    expect(await (await fetch(`${daemon.readOnlyUrl}/healthz`)).text()).toBe("ok");
    expect(await (await fetch(`${daemon.healthzUrl}/healthz`)).text()).toBe("ok");
  });

  it("counts pods, containers, starts and calls as upstream does", async () => {
    const { daemon } = node;
    for (const name of ["one", "two"])
      await daemon.put(`${name}.json`, manifest(name, { containers: [server(), server("other")] }));
    await daemon.put("job.json", manifest("job", { restartPolicy: "Never", containers: [script("main", "exit 4")] }));
    for (const name of ["one", "two"]) await daemon.until(name, ({ status }) => status?.phase === "Running", "Running");
    await daemon.until("job", ({ status }) => status?.phase === "Failed", "Failed");
    const wanted = {
      kubelet_running_pods: 2,
      'kubelet_running_containers{container_state="running"}': 4,
      'kubelet_running_containers{container_state="exited"}': 1,
      'kubelet_desired_pods{static="true"}': 3,
      'kubelet_active_pods{static="true"}': 2,
      'kubelet_node_name{node="test-node"}': 1,
      'rxlet_live_keys{worker="pod"}': 3,
      'rxlet_source_up{source="file"}': 1,
      'rxlet_source_up{source="runtimeEvents"}': 1,
    };
    const actual = async (): Promise<Readonly<Record<string, number | undefined>>> =>
      Object.fromEntries(
        await Promise.all(Object.keys(wanted).map(async (sample) => [sample, await daemon.metric(sample)] as const)),
      );
    await waitFor("the gauges to settle", async () => JSON.stringify(await actual()) === JSON.stringify(wanted)).catch(
      async () => expect(await actual()).toEqual(wanted),
    );
    const counters = [
      "kubelet_started_pods_total",
      'kubelet_started_containers_total{container_type="container"}',
      'kubelet_terminated_containers_total{container_type="container",exit_code="4",reason="Error"}',
      'kubelet_runtime_operations_total{operation_type="run_podsandbox"}',
      'kubelet_runtime_operations_duration_seconds_count{operation_type="start_container"}',
      'kubelet_run_podsandbox_duration_seconds_count{runtime_handler=""}',
      "kubelet_pleg_relist_duration_seconds_count",
      "kubelet_pod_start_duration_seconds_count",
      "kubelet_pod_worker_start_duration_seconds_count",
      'kubelet_pod_worker_duration_seconds_count{operation_type="create"}',
      'rxlet_inspections_total{result="ok"}',
      'rxlet_events_total{type="Normal",reason="Started"}',
      "process_cpu_seconds_total",
    ];
    const page = await daemon.metrics();
    const missing = counters.filter(
      (sample) => !new RegExp(`^${sample.replace(/[{}"]/g, "\\$&")} (?!0$)[0-9]`, "m").test(page),
    );
    expect(missing).toEqual([]);
    expect(await daemon.metric("rxlet_leaked_calls_total")).toBe(0);
    expect(page).not.toMatch(/^rxlet_metric_misuses_total\{.*\} [1-9]/m);
  });
});
