/** Applies each action of a script to the node. A step without a target is lost, and fails the scenario. */
import { ALL_THERE_IS } from "../host/simDisk.ts";
import type { SimNode } from "../simNode.ts";
import type { ScenarioNames } from "./scenarioNames.ts";
import type { ScenarioPod } from "./scenarioPods.ts";
import { shortDuration } from "./scenarioTime.ts";
import type { ScenarioAction } from "./script.ts";
import type { ServerAnswers } from "./probedServers.ts";
import type { Troubles } from "./troubles.ts";

/** Dependencies of the actions. */
export interface ActionContext {
  readonly node: SimNode;
  readonly names: ScenarioNames;
  readonly troubles: Troubles;
  readonly servers: ServerAnswers;
  put(pod: ScenarioPod): void;
  /** Deletes a pod as its owner would. */
  remove(pod: string, graceSeconds: number | undefined): void;
  forceDelete(pod: string): void;
  /** Records a step that had no target. */
  lose(text: string): void;
  /** Runs an action after `ms`; never without a time. */
  later(ms: number | undefined, action: () => void): void;
}

type Kind = ScenarioAction["kind"];
type ActionOf<K extends Kind> = Extract<ScenarioAction, { readonly kind: K }>;

const ACTIONS: { readonly [K in Kind]: (action: ActionOf<K>, context: ActionContext) => void } = {
  kill({ container, code, reason }, { node, names, lose }) {
    const name = names.container(container);
    const victim = node
      .running()
      .map(withoutAttempt)
      .find((each) => names.shown(each) === name);
    if (victim === undefined) lose(`kill ${container}: it does not run`);
    else node.kill(victim, { afterMs: 0, code, ...(reason === undefined ? {} : { reason }) });
  },
  killSandbox({ pod }, { node, names, lose }) {
    const name = names.pod(pod);
    const victim = readySandboxes(node).find((each) => names.shown(each) === name);
    if (victim === undefined) lose(`kill the sandbox of ${pod}: there is none`);
    else node.killSandbox(victim);
  },
  wedge({ container, forMs }, { node, names, troubles }) {
    node.note(`${container} is wedged for ${shortDuration(forMs)}`);
    troubles.wedge(names.container(container), node.clock.monotonicMs() + forMs);
  },
  put: ({ pod }, { put }) => put(pod),
  delete: ({ pod, graceSeconds }, { names, remove }) => remove(names.pod(pod), graceSeconds),
  forceDelete: ({ pod }, { names, forceDelete }) => forceDelete(names.pod(pod)),
  putManifest: ({ file, manifest }, { node }) => node.putManifest(file, manifest),
  dropManifest({ file }, { node, lose }) {
    if (node.manifests.names().includes(file)) node.dropManifest(file);
    else lose(`drop manifest ${file}: there is none`);
  },
  crashKubelet({ forMs }, { node, lose, later }) {
    if (node.kubelet === undefined) return lose("crash the kubelet: it is down");
    node.crashKubelet();
    later(forMs, () => startKubelet(node));
  },
  restartKubelet(_, { node, lose }) {
    if (node.kubelet !== undefined) lose("restart the kubelet: it runs");
    startKubelet(node);
  },
  crashRuntime({ containers, forMs }, { node, lose, later }) {
    if (!node.crashRuntime(containers)) return lose("crash the runtime: it is down");
    later(forMs, () => node.restartRuntime());
  },
  restartRuntime(_, { node, lose }) {
    if (node.runtime.isDown) node.restartRuntime();
    else lose("restart the runtime: it runs");
  },
  reboot({ forMs }, { node, later }) {
    node.powerOff();
    later(forMs, () => {
      node.restartRuntime();
      startKubelet(node);
    });
  },
  troubleCalls({ rpc, how, pod, forMs, delayMs }, { node, names, troubles }) {
    const about = pod === undefined ? undefined : names.pod(pod);
    node.note(`${rpc}${pod === undefined ? "" : ` of ${pod}`}: ${how} for ${shortDuration(forMs)}`);
    troubles.breakCalls({ rpc, how, pod: about, untilMs: node.clock.monotonicMs() + forMs, delayMs });
  },
  answer({ container, command, exec }, { node, names, troubles }) {
    node.note(`commands in ${container} end with ${exec.code}`);
    troubles.answer(names.container(container), command, exec);
  },
  serve({ container, answer }, { node, names, servers }) {
    node.note(`${container} answers ${answer.protocol}${answer.path ?? ""} with ${answer.outcome("it").result}`);
    servers.set(names.container(container), answer);
  },
  stepWallClock({ byMs }, { node }) {
    node.see({ kind: "clock", stepMs: byMs });
    node.clock.stepWallBy(byMs);
  },
  fillDisk({ forMs }, { node, later }) {
    node.note("disk is full");
    node.host.disk.fill("/", "script", ALL_THERE_IS);
    later(forMs, () => {
      node.note("disk has free space");
      node.host.disk.fill("/", "script", {});
    });
  },
  loseNetwork({ forMs }, { node, later }) {
    node.note("network is not ready");
    node.runtime.setCondition("NetworkReady", "cni plugin not initialized");
    later(forMs, () => node.runtime.setCondition("NetworkReady", ""));
  },
  act({ text, act }, { node }) {
    node.note(text);
    act(node);
  },
};

/** Applies an action now. */
export function takeAction<K extends Kind>(action: ActionOf<K>, context: ActionContext): void {
  const take: (action: ActionOf<K>, context: ActionContext) => void = ACTIONS[action.kind];
  take(action, context);
}

const withoutAttempt = (container: string): string => container.split("#")[0] ?? "";

const readySandboxes = ({ runtime }: SimNode): readonly string[] =>
  runtime
    .sandboxes()
    .filter(({ ready }) => ready)
    .map(({ config: { metadata } }) => `${metadata?.namespace}/${metadata?.name}`);

function startKubelet(node: SimNode): void {
  if (node.kubelet === undefined) node.restartKubelet();
}
