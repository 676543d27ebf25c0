import { expect, it } from "vitest";
import type { ResourcesByPod } from "../../../../src/core/admission/resourceDecision.ts";
import { shortageRemarks } from "../../../../src/core/admission/shortageRemarks.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const using = (name: string, requests: Readonly<Record<string, string>>) =>
  podOf({ name, spec: { containers: [containerOf({ resources: { requests } })] } });
const pods = (amounts: Readonly<Record<string, Readonly<Record<string, string>>>>): ResourcesByPod =>
  new Map(Object.entries(amounts).map(([name, requests]) => [podUid(name), { held: using(name, requests) }]));

it.each([
  ["OutOfcpu", { a: { cpu: "1" }, b: { cpu: "1500m" }, c: { memory: "1Gi" } }, ["cpu: demo/b 1500m, demo/a 1000m"]],
  ["OutOfexample.com/gpu", { a: { "example.com/gpu": "3" } }, ["example.com/gpu: demo/a 3"]],
  ["OutOfmemory", {}, ["no pod uses memory"]],
  ["OutOfpods", { a: { cpu: "1" } }, undefined],
  ["NodeAffinity", { a: { cpu: "1" } }, undefined],
])("says who uses what a pod rejected with %s lacks", (reason, amounts, expected) => {
  expect(shortageRemarks(reason, pods(amounts))?.map(({ message }) => message)).toEqual(expected);
});

it("names the five largest of many", () => {
  const amounts = Object.fromEntries(
    Array.from({ length: 400 }, (_, index) => [`p${index}`, { cpu: `${index + 1}m` }]),
  );
  expect(shortageRemarks("OutOfcpu", pods(amounts))).toEqual([
    {
      what: "UsedBy",
      message: "cpu: demo/p399 400m, demo/p398 399m, demo/p397 398m, demo/p396 397m, demo/p395 396m and 395 more pods",
    },
  ]);
});
