/** A hundred manifests that cannot be used among ten good ones: the ten run, and each of the others is reported. */
import { basename } from "node:path";
import { expect, it } from "vitest";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { garbageManifests } from "./garbageManifests.ts";
import { manifest, server } from "./manifests.ts";

const SEED = "garbage among manifests";
const PROBLEMS = 'rxlet_manifest_problems{source="file"}';

describeOnContainerd("garbage among manifests on containerd", (installation) => {
  const node = containerdNode(installation);

  it("runs the ten good ones, names file and reason of every other, and forgets them when they go", async () => {
    const { daemon } = node;
    const garbage = garbageManifests(100, SEED);
    const names = Array.from({ length: 10 }, (_, index) => `good-${index}`);
    for (const [index, { name, content }] of garbage.entries()) {
      await daemon.put(name, content);
      const good = index % 10 === 5 ? names[Math.floor(index / 10)] : undefined;
      if (good !== undefined) await daemon.put(`${good}.json`, manifest(good, { containers: [server()] }));
    }
    // A pod that another manifest has already.
    await daemon.put("z-twin.json", manifest("good-0", { containers: [server("other")] }));
    for (const name of names) await daemon.until(name, ({ status }) => status?.phase === "Running", "Running");
    const wanted = [...garbage.map(({ name }) => name), "z-twin.json"].sort();
    let reported: readonly string[] = [];
    await waitFor("every garbage file to be reported", async () => {
      const problems = (await daemon.logEntries()).filter(({ msg }) => msg === "Manifest problem");
      reported = [...new Set(problems.map(({ origin }) => basename(String(origin))))].sort();
      return reported.length >= wanted.length;
    }).catch(() => undefined);
    expect(reported).toEqual(wanted);
    const entries = (await daemon.logEntries()).filter(({ msg }) => msg === "Manifest problem");
    expect(entries.filter(({ reason }) => typeof reason !== "string" || reason === "")).toEqual([]);
    expect(entries.find(({ origin }) => String(origin).endsWith("-tabs.yaml"))).toMatchObject({
      level: "error",
      line: 2,
    });
    expect(entries.find(({ origin }) => String(origin).endsWith("z-twin.json"))).toMatchObject({
      level: "error",
      reason: expect.stringMatching(/^pod default\/good-0-test-node is already defined in .*good-0\.json/),
    });
    expect(await daemon.metric(PROBLEMS)).toBeGreaterThanOrEqual(wanted.length);
    expect((await daemon.pods()).map(({ metadata }) => metadata.name).sort()).toEqual(
      names.map((name) => `${name}-test-node`),
    );
    for (const { name } of garbage) await daemon.drop(name);
    await daemon.drop("z-twin.json");
    await waitFor("no problem to be left", async () => (await daemon.metric(PROBLEMS)) === 0);
    expect((await daemon.pods()).length).toBe(names.length);
    expect(await daemon.metric('kubelet_started_containers_total{container_type="container"}')).toBe(names.length);
  });
});
