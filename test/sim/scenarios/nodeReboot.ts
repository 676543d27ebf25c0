import { at, by, container, inOrder, pod, simulate } from "rxlet/sim";

const result = simulate({
  pods: [
    pod("web", { containers: [container("app")] }),
    pod("job", { restartPolicy: "Never", containers: [container("work")] }),
  ],
  script: [at("30s").reboot("20s")],
  until: "80s",
  expect: [
    inOrder("web/app exited code 255", "web sandbox created", "web/app started"),
    by("52s").container("web/app").hasRestarts(1),
    by("52s").pod("web").isReady(),
    // A pod with restartPolicy Never has failed.
    at("80s").pod("job").is("Failed"),
    at("80s").container("job/work").hasExited(255),
  ],
});

console.log(result.diagram("2s"));
console.log(result.story("web", /sandbox|started|exited|Sandbox/, "30s").join("\n"));
