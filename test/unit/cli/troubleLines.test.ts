import { expect, it } from "vitest";
import { changedTroubles, NO_TROUBLE_LINES } from "../../../src/cli/troubleLines.ts";
import { epochMs } from "../../../src/core/ids.ts";

const trouble = (name: string, text: string, namespace = "default") => ({ namespace, name, text });
const NAMES = new Set(["web", "shop/db"]);

it("prints a trouble once, until it is another one or the pod has gone", () => {
  const steps: readonly (readonly [readonly ReturnType<typeof trouble>[], ReadonlySet<string>])[] = [
    [[trouble("web", "exit code 3"), trouble("db", "no\u001b[2J image\n", "shop")], NAMES],
    [[trouble("web", "exit code 3")], NAMES],
    [[], NAMES],
    [[trouble("web", "exit code 3")], NAMES],
    [[trouble("web", "exit code 4")], NAMES],
    [[], new Set()],
    [[trouble("web", "exit code 4")], NAMES],
  ];
  let lines = NO_TROUBLE_LINES;
  const said = steps.map(([troubles, names]) => {
    lines = changedTroubles(lines, troubles, names, epochMs(0));
    return lines.text.map((text) => text.replace("1970-01-01T00:00:00Z  warning   ", ""));
  });
  expect(said).toEqual([
    ["web: exit code 3", "shop/db: no [2J image "],
    [],
    [],
    [],
    ["web: exit code 4"],
    [],
    ["web: exit code 4"],
  ]);
});

it("prints a failing pull once, although its text alternates with every backoff", () => {
  const failure = 'rpc error: code = NotFound desc = image "nginx" not found';
  const texts = [
    `c: ${failure}`,
    `c: Back-off pulling image "nginx": ErrImagePull: ${failure}`,
    `c: ${failure}`,
    "c: another failure",
  ];
  let lines = NO_TROUBLE_LINES;
  const printed = texts.map((text) => {
    lines = changedTroubles(lines, [trouble("web", text)], NAMES, epochMs(0));
    return lines.text.length;
  });
  expect(printed).toEqual([1, 0, 0, 1]);
});
