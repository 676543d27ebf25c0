import { PassThrough } from "node:stream";
import { lastValueFrom, toArray } from "rxjs";
import { expect, it } from "vitest";
import { terminalKeys } from "../../../src/commands/topKeys.ts";

function newTerminal() {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => void modes.push(isRaw) });
  return { input, modes, keys: terminalKeys(input as unknown as NodeJS.ReadStream) };
}

it("names the keys of a terminal until it is gone, also those that come in pieces", async () => {
  const { input, modes, keys } = newTerminal();
  const pressed = lastValueFrom(keys.pipe(toArray()));
  for (const piece of [
    "\u001b[A\u001b[B",
    "jq",
    "\r",
    "\n",
    "\t",
    "\u007f",
    "\u001b[5",
    "~",
    "\u001b[6~",
    "\u0003",
    "4",
  ])
    input.write(piece);
  input.end();
  expect(await pressed).toEqual([
    ...["up", "down", "j", "q", "return", "return", "tab", "backspace", "pageup", "pagedown", "ctrl-c", "4"],
  ]);
  expect(modes).toEqual([true, false]);
});

it("ends when the terminal cannot be read, and refuses to be left as it was", async () => {
  const { input, modes, keys } = newTerminal();
  const pressed = lastValueFrom(keys.pipe(toArray()));
  const { setRawMode } = input;
  input.setRawMode = (isRaw) => {
    setRawMode(isRaw);
    input.emit("error", new Error("EIO"));
  };
  input.destroy(new Error("EIO"));
  expect([await pressed, modes]).toEqual([[], [true, false]]);
});
