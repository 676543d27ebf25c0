import { expect, it } from "vitest";
import type { VolumesView } from "../../../../src/core/volume/volumesView.ts";
import { podNode } from "../../../support/podNode.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const POD_DIR = "/var/lib/kubelet/pods";
const LEFT = `${POD_DIR}/gone/volumes/kubernetes.io~empty-dir/data`;

const pod = podOf({
  spec: {
    volumes: [
      { name: "scratch", emptyDir: {} },
      { name: "settings", configMap: { name: "settings" } },
    ],
    containers: [
      containerOf({
        volumeMounts: [
          { name: "scratch", mountPath: "/scratch" },
          { name: "settings", mountPath: "/settings" },
        ],
      }),
    ],
  },
});

it("shows the mounted and missing volumes of pods, and the leftovers of earlier pods until their removal", () => {
  let broken = true;
  const { node, check } = podNode({
    pods: [pod],
    fileFault: (operation, path) => (broken && operation === "remove" && path === `${POD_DIR}/gone` ? "Io" : undefined),
  });
  const view = (): VolumesView => node.kubelet?.queries.volumes() as VolumesView;
  node.files.put(`${LEFT}/file`, "data");

  node.runFor(20_000);

  const [web] = view().pods;
  expect(web?.volumes.map(({ name, state, failures }) => [name, state, (failures ?? 0) > 1])).toEqual([
    ["scratch", "mounted", false],
    ["settings", "pending", true],
  ]);
  expect(web?.volumes[1]?.reason).toBe('configmap "settings" not found');
  expect(node.kubelet?.queries.podVolumes(web?.pod.namespace ?? "", web?.pod.name ?? "")?.pods).toEqual([web]);
  expect(node.kubelet?.queries.podVolumes("demo", "nobody")).toBeUndefined();
  expect(view().orphans).toEqual([
    {
      uid: "gone",
      path: `${POD_DIR}/gone`,
      reason: expect.stringContaining(`${POD_DIR}/gone`),
      volumes: [{ name: "data", state: "orphaned", plugin: "kubernetes.io/empty-dir", path: LEFT }],
    },
  ]);

  broken = false;
  node.runFor(60_000);
  expect(view().orphans).toEqual([]);
  check();
});

it("reports why leftovers stay: a source that has not reported may still desire the pod", () => {
  const { node, check } = podNode({ config: { sources: ["api", "http"] }, pageFate: () => ({ kind: "hang" }) });
  node.files.put(`${LEFT}/file`, "data");
  node.runFor(60_000);
  expect(node.kubelet?.queries.volumes().orphans?.map(({ reason }) => reason)).toEqual([
    "not every source of pods has reported, so the pod may still be wanted",
  ]);
  check();
});
