// Draws a dashboard with Grafana's own components. Its panel plugins are not published as packages: this file does what
// those of `stat` and `timeseries` do with a panel's JSON, and has the defaults of their options.
// Source: public/app/plugins/panel/{stat,timeseries} of github.com/grafana/grafana at v11.6.0.

import {
  applyFieldOverrides,
  createTheme,
  dateTime,
  FieldColorModeId,
  FieldConfigOptionsRegistry,
  FieldType,
  getFieldDisplayValues,
  standardFieldConfigEditorRegistry,
  ThemeContext,
  ThresholdsMode,
  toDataFrame,
  VizOrientation,
  type DataFrame,
  type FieldConfigPropertyItem,
  type FieldConfigSource,
  type FieldDisplay,
  type GrafanaTheme2,
  type TimeRange,
} from "@grafana/data";
import { LegendDisplayMode, VisibilityMode } from "@grafana/schema";
import {
  BigValue,
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  PanelChrome,
  TimeSeries,
  VizRepeater,
  type VizRepeaterRenderValueProps,
} from "@grafana/ui";
import type { ReactNode } from "react";
import { createRoot } from "react-dom/client";
import "@fontsource/inter/latin-400.css";
import "@fontsource/inter/latin-500.css";
import "uplot/dist/uPlot.min.css";

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  fieldConfig?: FieldConfigSource;
  options?: { textMode?: BigValueTextMode };
  targets?: { refId: string; legendFormat: string }[];
}

interface Series {
  metric: Record<string, string>;
  values: [number, string][];
}

interface Drawing {
  dashboard: { title: string; panels: Panel[] };
  // Prometheus' answers: of each panel, by the refId of its query.
  answers: Record<number, Record<string, Series[]>>;
  range: { from: number; to: number };
  scheme: "dark" | "light";
  width: number;
}

const ROW = 30;
const GAP = 8;
const UTC = "utc";

// Those that every panel has, and Grafana's defaults of them, by which a value above 80 is red.
const STANDARD: Record<string, unknown> = {
  unit: undefined,
  min: undefined,
  max: undefined,
  decimals: undefined,
  displayName: undefined,
  noValue: undefined,
  mappings: [],
  thresholds: {
    mode: ThresholdsMode.Absolute,
    steps: [
      { value: -Infinity, color: "green" },
      { value: 80, color: "red" },
    ],
  },
};
const LINES: Record<string, unknown> = {
  drawStyle: "line",
  lineInterpolation: "linear",
  lineWidth: 1,
  fillOpacity: 0,
  gradientMode: "none",
  barAlignment: 0,
  barWidthFactor: 0.6,
  stacking: { mode: "none", group: "A" },
  axisPlacement: "auto",
  axisColorMode: "text",
  axisBorderShow: false,
  scaleDistribution: { type: "linear" },
  axisCenteredZero: false,
  hideFrom: { tooltip: false, viz: false, legend: false },
  insertNulls: false,
  spanNulls: false,
  showPoints: VisibilityMode.Auto,
  pointSize: 5,
  thresholdsStyle: { mode: "off" },
};

function property(path: string, defaultValue: unknown, isCustom: boolean): FieldConfigPropertyItem {
  const editor = () => null;
  const process = (value: unknown) => value;
  return {
    id: isCustom ? `custom.${path}` : path,
    path,
    name: path,
    defaultValue,
    isCustom,
    editor,
    override: editor,
    process,
    shouldApply: () => true,
  };
}

function properties(type: string): FieldConfigPropertyItem[] {
  const graph = type === "timeseries";
  const color = { mode: graph ? FieldColorModeId.PaletteClassic : FieldColorModeId.Thresholds };
  return [
    ...Object.entries({ ...STANDARD, color }).map(([path, value]) => property(path, value, false)),
    ...Object.entries(graph ? LINES : {}).map(([path, value]) => property(path, value, true)),
  ];
}

/** Returns the field configuration with the defaults of Grafana, and with the lowest step, which JSON writes as null. */
function configuration(panel: Panel): FieldConfigSource {
  const given: FieldConfigSource = structuredClone(panel.fieldConfig ?? { defaults: {}, overrides: [] });
  for (const step of given.defaults.thresholds?.steps ?? []) {
    step.value ??= -Infinity;
  }
  const custom: Record<string, unknown> = { ...given.defaults.custom };
  const defaults: Record<string, unknown> = { ...given.defaults, custom };
  for (const { path, defaultValue, isCustom } of properties(panel.type)) {
    (isCustom ? custom : defaults)[path] ??= defaultValue;
  }
  return { ...given, defaults };
}

function frames(panel: Panel, answers: Record<string, Series[]>, theme: GrafanaTheme2): DataFrame[] {
  const data = (panel.targets ?? []).flatMap(({ refId, legendFormat }) =>
    (answers[refId] ?? []).map(({ metric, values }) =>
      toDataFrame({
        refId,
        fields: [
          { name: "Time", type: FieldType.time, config: {}, values: values.map(([time]) => time * 1000) },
          {
            name: "Value",
            type: FieldType.number,
            labels: metric,
            config: {
              displayNameFromDS: legendFormat.replace(/{{\s*(\w+)\s*}}/g, (_, label: string) => metric[label] ?? ""),
            },
            values: values.map(([, value]) => Number(value)),
          },
        ],
      }),
    ),
  );
  const registry = new FieldConfigOptionsRegistry(() => properties(panel.type));
  return applyFieldOverrides({
    data,
    fieldConfig: configuration(panel),
    fieldConfigRegistry: registry,
    replaceVariables: (text) => text,
    theme,
    timeZone: UTC,
  });
}

interface Shown {
  panel: Panel;
  data: DataFrame[];
  theme: GrafanaTheme2;
  range: TimeRange;
  width: number;
  height: number;
}

function Stat({ panel, data, theme, width, height }: Shown): ReactNode {
  const getValues = () =>
    getFieldDisplayValues({
      fieldConfig: configuration(panel),
      reduceOptions: { calcs: ["lastNotNull"], values: false },
      replaceVariables: (text) => text,
      data,
      theme,
      timeZone: UTC,
    });
  const renderValue = (shown: VizRepeaterRenderValueProps<FieldDisplay>) => (
    <BigValue
      className="value"
      value={shown.value.display}
      count={shown.count}
      width={shown.width}
      height={shown.height}
      colorMode={BigValueColorMode.Value}
      graphMode={BigValueGraphMode.None}
      textMode={panel.options?.textMode ?? BigValueTextMode.Auto}
      theme={theme}
    />
  );
  return (
    <VizRepeater
      getValues={getValues}
      renderValue={renderValue}
      source={data}
      renderCounter={0}
      width={width}
      height={height}
      itemSpacing={3}
      autoGrid
      orientation={VizOrientation.Auto}
    />
  );
}

function Graph({ panel, data, range, width, height }: Shown): ReactNode {
  if (data.length === 0) {
    return <div className="nothing">{panel.fieldConfig?.defaults.noValue ?? "No data"}</div>;
  }
  const legend = { showLegend: true, displayMode: LegendDisplayMode.List, placement: "bottom" as const, calcs: [] };
  return (
    <TimeSeries
      frames={data}
      timeRange={range}
      timeZone={UTC}
      width={width}
      height={height}
      legend={legend}
      options={{}}
    />
  );
}

const PANELS: Record<string, (shown: Shown) => ReactNode> = { stat: Stat, timeseries: Graph };

function Dashboard({ drawing, theme }: { drawing: Drawing; theme: GrafanaTheme2 }): ReactNode {
  const from = dateTime(drawing.range.from * 1000);
  const to = dateTime(drawing.range.to * 1000);
  const range = { from, to, raw: { from, to } };
  const column = (drawing.width - GAP) / 24;
  return drawing.dashboard.panels.map((panel) => {
    const { x, y, w, h } = panel.gridPos;
    const style = {
      left: GAP + x * column,
      top: GAP + y * (ROW + GAP),
      width: w * column - GAP,
      height: h * (ROW + GAP) - GAP,
    };
    if (panel.type === "row") {
      return (
        <h2 key={panel.id} style={style} data-row={panel.title}>
          {panel.title}
        </h2>
      );
    }
    const Shape = PANELS[panel.type];
    if (Shape === undefined) {
      throw new Error(`panels of type ${panel.type} cannot be drawn`);
    }
    const data = frames(panel, drawing.answers[panel.id] ?? {}, theme);
    return (
      <div key={panel.id} style={style} data-panel={panel.title}>
        <PanelChrome
          title={panel.title}
          description={panel.description ?? ""}
          width={style.width}
          height={style.height}
        >
          {(width, height) => (
            <Shape panel={panel} data={data} theme={theme} range={range} width={width} height={height} />
          )}
        </PanelChrome>
      </div>
    );
  });
}

/** Draws a dashboard into the page; the result resolves when it is painted. */
async function draw(drawing: Drawing): Promise<void> {
  const theme = createTheme({ colors: { mode: drawing.scheme } });
  standardFieldConfigEditorRegistry.setInit(() => properties("stat"));
  const bottom = Math.max(...drawing.dashboard.panels.map(({ gridPos }) => gridPos.y + gridPos.h));
  const sheet = document.createElement("style");
  sheet.textContent = `
    * { box-sizing: border-box }
    body { margin: 0; width: ${drawing.width}px; height: ${bottom * (ROW + GAP) + GAP}px; position: relative;
      background: ${theme.colors.background.canvas}; color: ${theme.colors.text.primary};
      font: ${theme.typography.body.fontSize} ${theme.typography.fontFamily}; line-height: ${theme.typography.body.lineHeight} }
    h2, ul, button { margin: 0; padding: 0; font: inherit; color: inherit; background: none; border: 0 }
    ul { list-style: none }
    #page > * { position: absolute }
    #page > h2 { font-weight: 500; padding: 4px 8px }
    .nothing { height: 100%; display: flex; align-items: center; justify-content: center; color: ${theme.colors.text.secondary} }
  `;
  document.head.append(sheet);
  await Promise.all([document.fonts.load("12px Inter"), document.fonts.load("500 12px Inter")]);
  const place = document.createElement("div");
  place.id = "page";
  document.body.append(place);
  createRoot(place).render(
    <ThemeContext.Provider value={theme}>
      <Dashboard drawing={drawing} theme={theme} />
    </ThemeContext.Provider>,
  );
  const graphs = drawing.dashboard.panels.filter(({ type }) => type === "timeseries").length;
  while (place.querySelectorAll("canvas, .nothing").length < graphs) {
    await new Promise(requestAnimationFrame);
  }
  await new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)));
}

Object.assign(window, { draw });
