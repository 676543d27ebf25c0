/** Lists of containers: which ones Docker is asked about, and what becomes of those about which it answers nothing. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRecentKeys } from "../../../src/core/recentKeys.ts";
import { listContainers } from "../../../src/dockershim/containerLists.ts";
import type { DockerCalls, ListOptions } from "../../../src/dockershim/dockerCalls.ts";
import { containerDetails, containerSummaries } from "../../../src/dockershim/engine/answers.ts";
import { createFactsCache } from "../../../src/dockershim/factsCache.ts";
import { sandboxCalls } from "../../../src/dockershim/sandboxCalls.ts";
import type { Shim } from "../../../src/dockershim/shim.ts";
import { ContainerFilter, ContainerState, ListPodSandboxRequest } from "../../../src/gen/cri.ts";

const { CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_EXITED } = ContainerState;
const LISTED_AT = 7_000_000_000n;
const INSPECTED_AT = 7_500_000_000n;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const idOf = (index: number): string => index.toString(16).padStart(64, "0");

/** A shim on a Docker with these containers, which `answer` answers an inspection. */
function shimWith(type: "container" | "podsandbox", states: readonly string[]) {
  const asked: string[] = [];
  const lists: (readonly [Readonly<Record<string, string>>, ListOptions | undefined])[] = [];
  const labels = { "io.kubernetes.docker.type": type };
  const detailsOf = (id: string, state: object) =>
    containerDetails({ Id: id, Created: "1970-01-01T00:00:07.5Z", Config: { Labels: labels }, State: state });
  const answers = {
    inspection: (id: string): Promise<ReturnType<typeof detailsOf> | undefined> =>
      Promise.resolve(detailsOf(id, { Running: true })),
  };
  const docker = {
    list: async (filter: Readonly<Record<string, string>>, options?: ListOptions) => {
      lists.push([filter, options]);
      if (options?.id !== undefined) return [];
      return containerSummaries(
        states.map((state, index) => ({
          Id: idOf(index),
          Names: ["/k8s_main_web_shop_u_0"],
          Created: 7,
          State: state,
          Labels: labels,
        })),
      );
    },
    find: (_kind: string, id: string) => {
      asked.push(id);
      return answers.inspection(id);
    },
    engine: { call: async () => ({ Id: "sha256:1", RepoTags: ["app:1"] }) },
  } as unknown as DockerCalls;
  const networks = { of: () => ({ connected: true, ips: [] }) };
  const unstarted = createRecentKeys(16);
  const cgroups = { marked: () => new Set() };
  const shim = { docker, facts: createFactsCache(docker), unstarted, cgroups, networks } as unknown as Shim;
  const list = async (filter?: Parameters<typeof ContainerFilter.create>[0]) => {
    const containers = await listContainers(shim, filter && ContainerFilter.create(filter));
    return containers.map(({ state, createdAt }) => [state, createdAt]);
  };
  return { shim, list, lists, asked, answers, unstarted, detailsOf };
}

const hang = (): Promise<undefined> => new Promise(() => undefined);

describe("a list of containers", () => {
  it("inspects each one once, and a created one each time, unless this shim has not started it", async () => {
    const { list, asked, answers, unstarted, detailsOf } = shimWith("container", ["running", "created", "created"]);
    answers.inspection = async (id) => detailsOf(id, { ExitCode: 127 });
    unstarted.add(idOf(2));
    const expected = [
      [CONTAINER_RUNNING, INSPECTED_AT],
      [CONTAINER_EXITED, INSPECTED_AT],
      [CONTAINER_CREATED, LISTED_AT],
    ];
    expect(await list()).toEqual(expected);
    expect(asked).toEqual([idOf(0), idOf(1)]);
    expect(await list()).toEqual(expected);
    expect(asked).toEqual([idOf(0), idOf(1), idOf(1)]);
  });

  it("comes after two seconds where Docker answers nothing about 40 of them, and says what it has", async () => {
    const states = Array.from({ length: 40 }, (_, index) => (index === 0 ? "running" : "created"));
    const { list, asked, answers } = shimWith("container", states);
    answers.inspection = hang;
    let listed: unknown;
    const listing = list().then((found) => (listed = found));
    await vi.advanceTimersByTimeAsync(1_999);
    expect(listed).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await listing;
    const created = Array.from({ length: 39 }, () => [CONTAINER_CREATED, LISTED_AT]);
    expect(listed).toEqual([[CONTAINER_RUNNING, LISTED_AT], ...created]);
    expect(asked).toHaveLength(16);
  });

  it("does not ask about a container again before Docker answers, and then does", async () => {
    const { list, asked, answers, detailsOf } = shimWith("container", ["created"]);
    const answer = Promise.withResolvers<ReturnType<typeof detailsOf>>();
    answers.inspection = () => answer.promise;
    const listing = list();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await listing).toEqual([[CONTAINER_CREATED, LISTED_AT]]);
    expect([await list(), asked.length]).toEqual([[[CONTAINER_CREATED, LISTED_AT]], 1]);
    answer.resolve(detailsOf(idOf(0), { ExitCode: 127 }));
    await vi.advanceTimersByTimeAsync(0);
    expect([await list(), asked.length]).toEqual([[[CONTAINER_EXITED, INSPECTED_AT]], 2]);
  });

  it("leaves 64 inspections without an answer at most, and asks no more then", async () => {
    const { list, asked, answers } = shimWith(
      "container",
      Array.from({ length: 100 }, () => "created"),
    );
    answers.inspection = hang;
    for (let count = 0; count < 6; count += 1) {
      const listing = list();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await listing).toHaveLength(100);
    }
    expect(asked).toHaveLength(64);
  });

  it("has containers whose inspection Docker refuses, and not those that are gone", async () => {
    const { list, answers } = shimWith("container", ["running", "exited"]);
    answers.inspection = async (id) => {
      if (id === idOf(0)) throw new Error("layer does not exist");
      return undefined;
    };
    expect(await list()).toEqual([[CONTAINER_RUNNING, LISTED_AT]]);
  });

  it("lets Docker filter, and forgets no facts about others", async () => {
    const { list, lists, asked } = shimWith("container", ["running", "exited"]);
    await list();
    await list({ id: idOf(7), labelSelector: { app: "web" }, state: { state: CONTAINER_RUNNING } });
    expect(lists.at(-1)).toEqual([
      { app: "web", "io.kubernetes.docker.type": "container" },
      { id: idOf(7), states: ["running", "paused"] },
    ]);
    await list();
    expect(asked).toHaveLength(2);
  });
});

it("a list of sandboxes has one about which Docker answers nothing", async () => {
  const { shim, answers } = shimWith("podsandbox", ["created"]);
  answers.inspection = hang;
  const listing = sandboxCalls(shim).listPodSandbox?.(ListPodSandboxRequest.create(), new AbortController().signal);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await listing).toMatchObject({ items: [{ id: idOf(0), createdAt: LISTED_AT }] });
});
