/** The end of a command as a translated stream tells it. */
import { expect, it } from "vitest";
import { translatedStatus } from "../../../../src/core/server/remoteStatus.ts";

const internal = (message: string): unknown => ({
  metadata: {},
  status: "Failure",
  message: `Internal error occurred: ${message}`,
  reason: "InternalError",
  details: { causes: [{ message }] },
  code: 500,
});
const exited = (details?: unknown) => JSON.stringify({ status: "Failure", reason: "NonZeroExitCode", details });
const cause = (message: string) => ({ causes: [{ reason: "Other" }, { reason: "ExitCode", message }] });

it.each([
  ["", { metadata: {}, status: "Success" }],
  ['{"status":"Success"}', { metadata: {}, status: "Success" }],
  ['{"status":"Failure","message":"no such container"}', internal("no such container")],
  [
    exited(cause("137")),
    {
      metadata: {},
      status: "Failure",
      message: "command terminated with non-zero exit code: command terminated with exit code 137",
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: "137" }] },
    },
  ],
  [exited(cause("255")), expect.objectContaining({ details: { causes: [{ reason: "ExitCode", message: "255" }] } })],
  [exited(), internal("error stream protocol error: details must be set")],
  [exited({ causes: [] }), internal("error stream protocol error: no ExitCode cause given")],
  [exited(cause("256")), internal('error stream protocol error: invalid exit code value "256"')],
  [exited(cause("-1")), internal('error stream protocol error: invalid exit code value "-1"')],
  ['{"status":"Maybe"}', internal("error stream protocol error: unknown error")],
  ["[]", internal("error stream protocol error: unknown error")],
])("%j", (text, status) => {
  expect(JSON.parse(translatedStatus(text))).toEqual(status);
});

it("converts malformed Status objects", () => {
  expect(translatedStatus("broken")).toContain('in \\"broken\\"');
});
