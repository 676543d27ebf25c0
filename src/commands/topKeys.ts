/** Keys of a terminal, by their names: `up`, `return`, `escape`, `a`, `ctrl-c`. */
import { emitKeypressEvents, type Key } from "node:readline";
import { Observable } from "rxjs";

/** Emits each key; the terminal passes keys on at once meanwhile. Completes when the terminal is gone. */
export const terminalKeys = (input: NodeJS.ReadStream): Observable<string> =>
  new Observable<string>((subscriber) => {
    const pressed = (text: string | undefined, { name = text ?? "", ctrl }: Key): void =>
      subscriber.next(ctrl === true ? `ctrl-${name}` : (ALIASES.get(name) ?? name));
    const gone = (): void => subscriber.complete();
    emitKeypressEvents(input);
    input.setRawMode(true);
    input.on("end", gone).on("close", gone).on("error", gone);
    input.on("keypress", pressed).resume();
    return () => {
      input.off("end", gone).off("close", gone);
      input.off("keypress", pressed).pause();
      // A terminal that is gone refuses this with an event.
      input.setRawMode(false);
      input.off("error", gone);
    };
  });

/** A line feed is Enter too. */
const ALIASES: ReadonlyMap<string, string> = new Map([["enter", "return"]]);
