import { at, container, pod, simulate, usesMemory } from "rxlet/sim";

const result = simulate({
  pods: [
    pod("web", { containers: [container("app")] }),
    pod("hog", { containers: [container("app", { resources: { limits: { memory: "64Mi" } } })] }),
  ],
  programs: { "hog/app": [usesMemory("80Mi", "30s"), usesMemory("32Mi")] },
  seed: 7,
  faults: { criFails: 0.1, eventLost: 0.5, kubeletCrashes: 30, containerExits: 60 },
  faultsUntil: "20m",
  until: "30m",
  // All pods recover from the faults.
  expect: [at("30m").pod("web").isReady(), at("30m").pod("hog").isReady()],
});

for (const { metadata, status } of result.pods) console.log(metadata.name, status?.phase);
