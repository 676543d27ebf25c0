/** A small plot over time. */
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { readPalette } from "../diagram/readPalette.ts";
import type { Series } from "../model/nodeHistory.ts";
import { shownTimeOfDay } from "../model/shownFigures.ts";
import { usePage } from "../page.ts";
import { useWidth } from "./useWidth.ts";

const HEIGHT = 120;
const FONT = "11px system-ui, sans-serif";
const AXIS_WIDTH = 72;

interface PlotProps {
  readonly title: string;
  /** Seconds since the epoch. */
  readonly at: readonly number[];
  readonly series: Series;
  /** Top of the plot, if it is known. */
  readonly most: number | undefined;
  readonly shown: (value: number) => string;
  /** Distances of ticks that make round values. */
  readonly steps: readonly number[];
  readonly hue: number;
}

/** Ticks are whole: `8.00 GiB` is `8 GiB`. */
const whole = (text: string): string => text.replace(/\.0+ /, " ");

export function Plot({ title, at, series, most, shown, steps, hue }: PlotProps) {
  const { theme } = usePage();
  const [box, width] = useWidth();
  const plot = useRef<uPlot | undefined>(undefined);
  useEffect(() => {
    if (box.current === null || width === 0) return undefined;
    const palette = readPalette(box.current);
    const axis = {
      stroke: palette.muted,
      font: FONT,
      grid: { stroke: palette.line, width: 1 },
      ticks: { show: false },
    };
    const made = new uPlot(
      {
        width,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: true }, y: { range: (_, __, top) => [0, most ?? Math.max(1, top * 1.1)] } },
        axes: [
          { ...axis, space: 90, size: 22, values: (_, ticks) => ticks.map((tick) => shownTimeOfDay(tick * 1000)) },
          {
            ...axis,
            space: 36,
            size: AXIS_WIDTH,
            incrs: [...steps],
            values: (_, ticks) => ticks.map((tick) => whole(shown(tick))),
          },
        ],
        series: [
          {},
          { stroke: palette.hues[hue] ?? palette.accent, width: 1.5, spanGaps: false, points: { show: false } },
        ],
      },
      [[...at], [...series]],
      box.current,
    );
    plot.current = made;
    return () => {
      plot.current = undefined;
      made.destroy();
    };
  }, [width, theme.value, most]);
  useEffect(() => plot.current?.setData([[...at], [...series]]), [at, series]);
  return <div class="plot" ref={box} role="img" aria-label={`${title} over time`} />;
}
