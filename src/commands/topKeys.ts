/** Keys of a terminal, by their names: `up`, `return`, `escape`, `a`, `ctrl-c`. */
import { emitKeypressEvents, type Key } from "node:readline";
import { Observable } from "rxjs";

/** Emits each key; the terminal passes keys on at once meanwhile. Never completes. */
export const terminalKeys = (input: NodeJS.ReadStream): Observable<string> =>
  new Observable<string>((subscriber) => {
    const pressed = (text: string | undefined, { name = text ?? "", ctrl }: Key): void =>
      subscriber.next(ctrl === true ? `ctrl-${name}` : (ALIASES.get(name) ?? name));
    emitKeypressEvents(input);
    input.setRawMode(true);
    input.on("keypress", pressed).resume();
    return () => {
      input.off("keypress", pressed).pause();
      input.setRawMode(false);
    };
  });

/** A line feed is Enter too. */
const ALIASES: ReadonlyMap<string, string> = new Map([["enter", "return"]]);
