/** The kinds of pods in a workload: their specs, the programs of their containers and the state they have to reach. */
import {
  exitsWith,
  ignoresTerm,
  runsForever,
  type SimExec,
  type SimProgram,
  type SimPrograms,
} from "../runtime/simProgram.ts";
import { MOODY_PATH, NEVER_PATH, SICKLY_PATH } from "./workloadAnswers.ts";

/** Fields of an object as its owner writes them. */
export type Fields = Readonly<Record<string, unknown>>;

/** The state a pod has to reach some time after the last fault. */
export type SimGoal =
  /** All containers run and are ready; one of a pod that is never restarted may have ended. */
  | "running"
  /** Terminated: Succeeded or Failed. */
  | "over"
  /** The kubelet keeps trying to start it. */
  | "trying";

interface PodKind {
  readonly weight: number;
  /** Only API pods: the deadline of a static pod depends on the wall clock, which may be set back. */
  readonly isApiOnly?: true;
  readonly goal: SimGoal;
  readonly spec: (image: string) => Fields;
}

/** The program of each container, by container name. */
const PROGRAMS: Readonly<Record<string, SimProgram>> = {
  steady: { ...runsForever, onTerm: { afterMs: 300, code: 0 }, usage: { cpuMilli: 10, memoryBytes: 20_000_000 } },
  stubborn: ignoresTerm,
  leaving: { onTerm: { afterMs: 8_000, code: 0 } },
  crash: exitsWith(1, 700),
  flaky: exitsWith(2, 45_000),
  job: exitsWith(0, 40_000),
  failing: exitsWith(3, 5_000),
  setup: exitsWith(0, 1_500),
  proxy: { onTerm: { afterMs: 100, code: 0 } },
  batch: { exits: { afterMs: 400_000, code: 0 }, terminationMessage: "all done" },
  broken: { failsToStart: "exec: no such file" },
};

/** Commands of hooks and probes: `takes 5000` ends so many milliseconds later, `fails 5000` too, with code 1. */
function command([word = "", ms = "0"]: readonly string[]): SimExec {
  return { afterMs: Number(ms), code: word === "fails" ? 1 : 0 };
}

/** A program whose startup probe fails a few times. */
function warmingUp(): SimProgram {
  let asked = 0;
  return {
    ...runsForever,
    exec: (words) => (words[0] === "up" ? { afterMs: 20, code: (asked += 1) > 5 ? 0 : 1 } : command(words)),
  };
}

/** Behaviour by container name. */
export const workloadPrograms: SimPrograms = ({ container }) => {
  const name = container.metadata?.name ?? "";
  return name === "warming" ? warmingUp() : { exec: command, ...PROGRAMS[name] };
};

const container = (name: string, image: string, more: Fields = {}): Fields => ({
  name,
  image,
  resources: { requests: { cpu: "20m", memory: "32Mi" } },
  ...more,
});
const sidecar = (image: string): Fields => container("proxy", image, { restartPolicy: "Always" });
const hooks = (postStart: readonly string[], preStop: readonly string[]): Fields => ({
  lifecycle: { postStart: { exec: { command: postStart } }, preStop: { exec: { command: preStop } } },
});
const LONG_MS = "3600000";
const startupProbe: Fields = { exec: { command: ["up"] }, periodSeconds: 2, failureThreshold: 30 };
const probes: Fields = {
  startupProbe,
  readinessProbe: { httpGet: { path: "/ready", port: 8080 }, periodSeconds: 10 },
  livenessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 10 },
};

/** The kinds of pods by name. */
export const POD_KINDS: Readonly<Record<string, PodKind>> = {
  steady: { weight: 5, goal: "running", spec: (image) => ({ containers: [container("steady", image)] }) },
  pair: {
    weight: 3,
    goal: "running",
    spec: (image) => ({
      hostUsers: false,
      containers: [container("steady", image), container("stubborn", image)],
    }),
  },
  leaving: {
    weight: 2,
    goal: "running",
    spec: (image) => ({ containers: [container("leaving", image, hooks(["greet"], ["bye"]))] }),
  },
  probed: { weight: 2, goal: "running", spec: (image) => ({ containers: [container("steady", image, probes)] }) },
  crash: { weight: 2, goal: "trying", spec: (image) => ({ containers: [container("crash", image)] }) },
  flaky: {
    weight: 2,
    goal: "trying",
    spec: (image) => ({
      restartPolicy: "OnFailure",
      containers: [container("flaky", image), container("steady", image)],
    }),
  },
  job: {
    weight: 2,
    goal: "over",
    spec: (image) => ({ restartPolicy: "Never", hostUsers: false, containers: [container("job", image)] }),
  },
  failing: {
    weight: 1,
    goal: "over",
    spec: (image) => ({ restartPolicy: "Never", containers: [container("failing", image), container("job", image)] }),
  },
  staged: {
    weight: 2,
    goal: "running",
    spec: (image) => ({
      initContainers: [container("setup", image), sidecar(image)],
      containers: [container("steady", image)],
      volumes: [{ name: "scratch", emptyDir: {} }],
    }),
  },
  batch: {
    weight: 2,
    goal: "over",
    spec: (image) => ({
      restartPolicy: "OnFailure",
      initContainers: [sidecar(image), container("setup", image)],
      containers: [container("batch", image)],
    }),
  },
  warming: {
    weight: 2,
    goal: "running",
    spec: (image) => ({ containers: [container("warming", image, { ...probes, startupProbe })] }),
  },
  cold: {
    weight: 1,
    goal: "trying",
    spec: (image) => ({
      containers: [
        container("steady", image, {
          startupProbe: { exec: { command: ["fails"] }, periodSeconds: 3, failureThreshold: 4 },
        }),
      ],
    }),
  },
  moody: {
    weight: 2,
    goal: "trying",
    spec: (image) => ({
      containers: [
        container("steady", image, {
          readinessProbe: { httpGet: { path: MOODY_PATH, port: 8080 }, periodSeconds: 5, successThreshold: 2 },
          livenessProbe: { httpGet: { path: SICKLY_PATH, port: 8080 }, periodSeconds: 10, failureThreshold: 2 },
        }),
        container("stubborn", image, { readinessProbe: { httpGet: { path: NEVER_PATH, port: 8081 } } }),
      ],
    }),
  },
  hooked: {
    weight: 2,
    goal: "running",
    spec: (image) => ({
      containers: [
        container("leaving", image, hooks(["takes", "3000"], ["takes", "4000"])),
        container("stubborn", image, hooks(["greet"], ["takes", LONG_MS])),
        container("steady", image, hooks(["greet"], ["fails", "1500"])),
      ],
    }),
  },
  unwelcome: {
    weight: 1,
    goal: "trying",
    spec: (image) => ({ containers: [container("leaving", image, hooks(["fails", "2000"], ["takes", "500"]))] }),
  },
  crew: {
    weight: 3,
    goal: "running",
    spec: (image) => ({
      initContainers: [
        container("warming", image, { restartPolicy: "Always", startupProbe, ...hooks(["greet"], ["takes", "2000"]) }),
        container("setup", image),
        sidecar(image),
      ],
      containers: [container("leaving", image, hooks(["greet"], ["bye"])), container("stubborn", image)],
    }),
  },
  timed: {
    weight: 1,
    goal: "over",
    isApiOnly: true,
    spec: (image) => ({
      activeDeadlineSeconds: 90,
      initContainers: [sidecar(image)],
      containers: [container("leaving", image, hooks(["greet"], ["takes", "3000"])), container("crash", image)],
    }),
  },
  bounded: {
    weight: 1,
    goal: "over",
    isApiOnly: true,
    spec: (image) => ({ activeDeadlineSeconds: 600, containers: [container("steady", image)] }),
  },
  unpullable: {
    weight: 1,
    goal: "trying",
    spec: (image) => ({ containers: [container("steady", "registry.invalid/none:1"), container("proxy", image)] }),
  },
  broken: { weight: 1, goal: "trying", spec: (image) => ({ containers: [container("broken", image)] }) },
  // Never drawn, only used by tenants: workloadTenants.ts.
  deaf: { weight: 0, goal: "running", spec: (image) => ({ containers: [container("stubborn", image)] }) },
  host: {
    weight: 1,
    goal: "running",
    spec: (image) => ({ hostNetwork: true, containers: [container("steady", image)] }),
  },
  big: {
    weight: 1,
    goal: "running",
    spec: (image) => ({
      containers: [container("steady", image, { resources: { requests: { cpu: "2500m", memory: "4Gi" } } })],
    }),
  },
};
