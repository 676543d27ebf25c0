import { at, between, container, inOrder, pod, simulate, stopsIn } from "rxlet/sim";

const web = (image: string) =>
  pod("web", { terminationGracePeriodSeconds: 10, containers: [container("app", { image })] });

const result = simulate({
  pods: [web("registry.example/app:1")],
  // The stop takes 6 s, so the next edit comes before it ends.
  programs: { app: stopsIn("6s") },
  script: [at("20s").put(web("registry.example/app:2")), at("22s").put(web("registry.example/app:3"))],
  until: "40s",
  expect: [
    between("5s", "20s").pod("web").isReady(),
    inOrder("web/app started", "web/app exited", "web sandbox removed", "web sandbox created", "web/app started"),
    at("40s").pod("web").isReady(),
    at("40s").container("web/app").hasRestarts(0),
  ],
});

console.log(result.diagram("1s"));
console.log(result.story("web", /sandbox|created|started|exited|Killing/).join("\n"));
console.log(result.pods[0]?.status?.containerStatuses?.[0]?.image);
