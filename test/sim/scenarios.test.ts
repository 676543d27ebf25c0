/** docs/simulation.md says what is so: every example runs and prints what is shown, every flag, fault and letter is there. */
import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { STATE_LETTERS } from "rxlet/sim";
import { SIMULATE_FLAGS } from "../../src/cli/simulateFlags.ts";
import { FAULT_KINDS } from "../../src/sim/faults/faultKinds.ts";

const EXAMPLES = [
  "crashLoop",
  "rollingEdit",
  "wedgedContainer",
  "crashInSandboxCreation",
  "nodeReboot",
  "failingServer",
  "randomFaults",
];

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const page = textOf("../../docs/simulation.md");
/** The rows of all tables, with one blank where there are many. */
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) => line.replace(/ +/g, " "));

describe("docs/simulation.md", () => {
  it.each(EXAMPLES)("shows the code of %s, which goes as it expects, and what it prints", async (name) => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    await import(`./scenarios/${name}.ts`);
    const printed = log.mock.calls.map((words) => words.join(" ")).join("\n");
    log.mockRestore();
    const shown = `\`\`\`ts\n${textOf(`scenarios/${name}.ts`)}\`\`\`\n\n\`\`\`\n${printed}\n\`\`\`\n`;
    // The page in the message only where it matters.
    const at = page.indexOf(textOf(`scenarios/${name}.ts`)) - "```ts\n".length;
    expect(page.slice(at, at + shown.length)).toBe(shown);
  });

  it("lists the flags of rxlet simulate", () => {
    const expected = SIMULATE_FLAGS.map(
      ({ name, about, default: value }) => `| \`--${name}\` | ${value === "" ? "" : `\`${value}\` `}| ${about} |`,
    );
    expect(rows).toEqual(expect.arrayContaining(expected));
  });

  it("lists the faults", () => {
    const expected = Object.entries(FAULT_KINDS).map(([kind, { per, about }]) => `| \`${kind}\` | ${per} | ${about} |`);
    expect(rows).toEqual(expect.arrayContaining(expected));
  });

  it("lists the letters of timelines", () => {
    const expected = Object.entries(STATE_LETTERS).map(([letter, about]) => `| \`${letter}\` | ${about} |`);
    expect(rows).toEqual(expect.arrayContaining(expected));
  });
});
