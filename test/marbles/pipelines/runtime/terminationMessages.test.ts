import { map } from "rxjs";
import { it } from "vitest";
import type { RuntimeContainer } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { readTerminationMessages } from "../../../../src/pipelines/runtime/terminationMessages.ts";
import { createSimLogFiles } from "../../../../src/sim/host/simLogFiles.ts";
import { createSimFiles } from "../../../../src/sim/host/simFiles.ts";
import { marbles } from "../../../support/marbles.ts";
import { exited, runtime } from "../../../unit/core/samples.ts";

const POLICY = "io.kubernetes.container.terminationMessagePolicy";
const FILES: Readonly<Record<string, string>> = {
  "/message": "from the file",
  "/long": "x".repeat(5000),
  "/empty": "",
  "/log": "2026-01-01T00:00:00Z stdout F from the log\n",
};
const unreadable = (operation: string, path: string) =>
  operation === "readTail" && path === "/secret" ? ("PermissionDenied" as const) : undefined;

const fallsBack = { annotations: { [POLICY]: "FallbackToLogsOnError" }, logPath: "/log" };
const from = (file: string | undefined, more: Partial<RuntimeContainer> = {}, code = 1): RuntimeContainer =>
  exited("web", code, { terminationMessageFile: file, ...more });

it.each<readonly [string, RuntimeContainer, string]>([
  ["what the container wrote", from("/message"), "from the file"],
  ["behind the runtime's own words", from("/message", { message: "no such file" }), "no such file: from the file"],
  ["the last 4096 bytes of it", from("/long"), "x".repeat(4096)],
  ["nothing without a file", from("/gone"), ""],
  ["the file before the log", from("/message", fallsBack), "from the file"],
  ["the log when the file is empty", from("/empty", fallsBack), "from the log\n"],
  ["the log when there is no file", from("/gone", fallsBack), "from the log\n"],
  ["no log of a success", from("/empty", fallsBack, 0), ""],
  ["no log of what could not run", from("/empty", { ...fallsBack, reason: "ContainerCannotRun" }), ""],
  ["no log unless asked for", from("/empty", { logPath: "/log" }), ""],
  [
    "why a file cannot be read",
    from("/secret", fallsBack),
    "Error on reading termination log /secret: cannot readTail /secret: injected fault",
  ],
  [
    "why a log cannot be read",
    from("/empty", { ...fallsBack, logPath: "/secret" }),
    "Error on reading termination message from logs: cannot readTail /secret: injected fault",
  ],
])("an exit tells %s", (_what, container, text) => {
  marbles(({ clock, expectObservable }) => {
    const expected = "(m|)";

    const files = createSimFiles({ clock, fault: unreadable });
    for (const [path, content] of Object.entries(FILES)) files.put(path, content);
    const told$ = readTerminationMessages(runtime([container]), undefined, {
      files,
      logFiles: createSimLogFiles({ clock, files }),
    }).pipe(map(({ containers: [only] }) => only?.message));
    expectObservable(told$).toBe(expected, { m: text });
  })();
});

it(
  "is read once per exit",
  marbles(({ clock, expectObservable }) => {
    const expected = "(k|)";

    const files = createSimFiles({ clock });
    const known = runtime([from("/message", { message: "as read before" })]);
    expectObservable(
      readTerminationMessages(known, known, { files, logFiles: createSimLogFiles({ clock, files }) }),
    ).toBe(expected, { k: known });
  }),
);

it.each<readonly [string, RuntimeContainer, RuntimeContainer | undefined, string]>([
  [
    "of a container that was running before",
    from("/message"),
    { ...from("/message"), state: "running" },
    "from the file",
  ],
  ["of a container that was not seen before", from("/message"), undefined, "from the file"],
  ["of no container that runs", { ...from("/message"), state: "running" }, undefined, ""],
])("is read %s", (_which, container, before, text) => {
  marbles(({ clock, expectObservable }) => {
    const expected = "(m|)";

    const files = createSimFiles({ clock });
    files.put("/message", "from the file");
    const known = exited("other", 1, { terminationMessageFile: "/gone", message: "as read before" });
    const previous = runtime([known, ...(before === undefined ? [] : [before])]);
    const messages$ = readTerminationMessages(runtime([known, container]), previous, {
      files,
      logFiles: createSimLogFiles({ clock, files }),
    }).pipe(map(({ containers }) => containers.map(({ message }) => message)));
    expectObservable(messages$).toBe(expected, { m: ["as read before", text] });
  })();
});
