import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { type ConfigLookup, lookedUp, type ManifestObjectKey, objectKey } from "../../../../src/core/configObjects.ts";
import { changedVolumes } from "../../../../src/pipelines/volumes/changedVolumes.ts";

const found = (name: string, resourceVersion = "1"): ConfigLookup => ({
  kind: "found",
  object: { kind: "ConfigMap", metadata: { namespace: "ns", name, uid: name, resourceVersion } },
});

const keyOf = (name: string): ManifestObjectKey => objectKey("ConfigMap", "ns", name);

/** A pod with one volume per name, `v-<name>`, of the ConfigMap of that name. */
const podOf = (names: readonly string[]): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "ns", name: "pod", uid: "uid" },
  spec: {
    containers: [
      { name: "main", image: "i", volumeMounts: names.map((name) => ({ name: `v-${name}`, mountPath: `/${name}` })) },
    ],
    volumes: names.map((name) => ({ name: `v-${name}`, configMap: { name } })),
  },
});

describe("changedVolumes", () => {
  it("compares only the volumes that name the object that arrived", () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `c${index}`);
    const pod = podOf(names);
    const changed = changedVolumes();
    const lookups = new Map<ManifestObjectKey, ConfigLookup>();
    let reads = 0;
    const counted = (news?: ManifestObjectKey) => {
      const objects = lookedUp(lookups, news);
      const configMap: typeof objects.configMap = (...identity) => {
        reads += 1;
        return objects.configMap(...identity);
      };
      return { ...objects, configMap };
    };
    changed([pod, counted()]);
    const reported = names.flatMap((name) => {
      lookups.set(keyOf(name), found(name));
      return changed([pod, counted(keyOf(name))]);
    });
    expect(reported).toEqual(names.map((name) => `v-${name}`));
    expect(reads).toBe(2 * names.length);
  });

  it("names a volume again when its object has another version, not when the same version comes again", () => {
    const pod = podOf(["a", "b"]);
    const changed = changedVolumes();
    const news = (name: string, version: string) =>
      changed([pod, lookedUp(new Map([[keyOf(name), found(name, version)]]), keyOf(name))]);
    changed([pod, lookedUp(new Map())]);
    expect([news("a", "1"), news("a", "1"), news("a", "2")]).toEqual([["v-a"], [], ["v-a"]]);
  });

  it("compares all volumes of another pod, and after a time without one", () => {
    const lookups = new Map([
      [keyOf("a"), found("a")],
      [keyOf("b"), found("b")],
    ]);
    const objects = lookedUp(lookups, keyOf("a"));
    const changed = changedVolumes();
    expect(changed([podOf(["a", "b"]), objects])).toEqual(["v-a", "v-b"]);
    const pod = podOf(["a", "b"]);
    expect(changed([pod, objects])).toEqual([]);
    lookups.set(keyOf("b"), found("b", "2"));
    expect([changed(["keep", objects]), changed([undefined, objects])]).toEqual([[], []]);
    expect(changed([pod, objects])).toEqual(["v-b"]);
  });
});
