import { lastValueFrom, NEVER, of, take, toArray } from "rxjs";
import { expect, it } from "vitest";
import type { ConfigObjects } from "../../../src/core/configObjects.ts";
import { MAX_REFERENCES } from "../../../src/core/pod/podReferences.ts";
import { configObjectsOf } from "../../../src/core/configObjects.ts";
import { createPodObjects } from "../../../src/pipelines/podObjects.ts";
import type { ConfigObjectRef, ObjectCache } from "../../../src/ports/objectCache.ts";
import { createCell } from "../../../src/state/cell.ts";
import { containerOf, podOf } from "../../support/pods.ts";

const podWith = (secrets: number) => {
  const envFrom = Array.from({ length: secrets }, (_, index) => ({ secretRef: { name: `s${index}` } }));
  return podOf({ spec: { containers: [containerOf({ envFrom })] } });
};

/** A cache in which no object exists; notes the names it was asked for. */
function emptyCache() {
  const asked = { follow: [] as string[], get: [] as string[] };
  const missing = of({ kind: "missing" } as const);
  const cache: ObjectCache = {
    follow: ({ name }: ConfigObjectRef) => {
      asked.follow.push(name);
      return NEVER;
    },
    get: ({ name }: ConfigObjectRef) => {
      asked.get.push(name);
      return missing;
    },
  };
  return { asked, objects: createPodObjects(createCell(configObjectsOf([])), cache) };
}

const refused = (name: string): string =>
  `Secret "${name}" is not read: pod demo/plain refers to more than ${MAX_REFERENCES} ConfigMaps and Secrets`;

const problemsOf = ({ problem }: ConfigObjects, names: readonly string[]) =>
  names.map((name) => problem("Secret", "demo", name)?.message);

it.each([
  ["up to the limit", MAX_REFERENCES, undefined],
  ["beyond the limit", MAX_REFERENCES + 2, refused(`s${MAX_REFERENCES + 1}`)],
])("objects %s are followed and read, or refused by name", async (_, count, problem) => {
  const { asked, objects } = emptyCache();
  const pod = podWith(count);
  const names = [`s${MAX_REFERENCES - 1}`, `s${count - 1}`];
  const [followed] = await lastValueFrom(objects.follow(pod).pipe(take(1), toArray()));
  const references = names.map((name) => ({ kind: "Secret", name }) as const);
  const read = await lastValueFrom(objects.read(pod, references));
  expect([followed, read].map((known) => known && problemsOf(known, names))).toEqual([
    [undefined, problem],
    [undefined, problem],
  ]);
  expect(asked.get).toEqual(problem === undefined ? names : [names[0]]);
});

it("follows no object beyond the limit", () => {
  const { asked, objects } = emptyCache();
  objects
    .follow(podWith(MAX_REFERENCES + 2))
    .subscribe()
    .unsubscribe();
  expect([asked.follow.length, asked.follow.at(-1)]).toEqual([MAX_REFERENCES, `s${MAX_REFERENCES - 1}`]);
});
