/** From counters to figures, each beside the band that theory gives it, and to a report. */
import { chiSquareSurvival } from '../../packages/statistics/src/index.ts';
import { type Dot, dotPlot, type Line, linePlot } from './plots.ts';
import { kinds } from './samples.ts';
import {
  banditRates,
  banditRounds,
  type Counters,
  chanceBins,
  correlations,
  cupedUnits,
  effectTypes,
  lastLook,
  lift,
  lookEvery,
  policies,
  srmBins,
  unitsPerArm,
  unitsPerRound,
} from './studies.ts';

/** One number of the report. */
interface Figure extends Dot {
  readonly note?: string;
}

interface Section {
  readonly title: string;
  readonly text: string;
  readonly figures: readonly Figure[];
  readonly format: (value: number) => string;
  readonly plots: Readonly<Record<string, string>>;
}

/** Standard errors on either side: with some hundred figures one is outside in ten reports. */
const standardErrors = 3.3;

const percent = (value: number): string => `${(value * 100).toFixed(2)} %`;
const plainNumber = (value: number): string => value.toFixed(4);

function share(counters: Counters, name: string, counter: string, of: string, expected: number, note?: string): Figure {
  const experiments = counters.get(of) ?? 0;
  const half = standardErrors * Math.sqrt((expected * (1 - expected)) / experiments);
  const value = (counters.get(counter) ?? 0) / experiments;
  return { name, value, low: expected - half, high: expected + half, ...(note !== undefined && { note }) };
}

const quantileNote =
  'the standard error of a quantile comes from two order statistics and is noisy itself, which the t distribution does not know: a little more than nominal is rejected, less so with more units';
const relativeNote =
  'a relative effect is a ratio of two means, whose distribution is a little skewed where the control’s mean is not known well';

const noteOf = (kind: string, isRelative = false): string | undefined =>
  kind.startsWith('quantile') ? quantileNote : isRelative ? relativeNote : undefined;

function falsePositives(counters: Counters): Section {
  const tests = ['absolute', 'relative', 'greater', 'less'] as const;
  const figures = kinds.flatMap(({ name }) => [
    ...tests.map((test) =>
      share(
        counters,
        `${name}: ${test}`,
        `${name}: false positives, ${test}`,
        `${name}: experiments`,
        0.05,
        noteOf(name, test === 'relative'),
      ),
    ),
    {
      ...share(counters, `${name}: sequential`, `${name}: false positives, sequential`, `${name}: experiments`, 0.05),
      low: 0,
    },
  ]);
  return {
    title: 'False positives without an effect',
    text:
      `Two equal arms of ${unitsPerArm} units, tested at 5 %: two-sided for the absolute and the relative effect, one-sided each way ` +
      'for the absolute, and two-sided sequentially at one look, which may reject at most as often. Values are log-normal; ratios and ' +
      'events are clustered within units.',
    figures,
    format: percent,
    plots: { 'false-positives': dotPlot('False positives at 5 %, with 99.9 % bands', figures, percent) },
  };
}

function coverage(counters: Counters): Section {
  const tests = ['absolute', 'relative', 'Bayesian'] as const;
  const figures = kinds.flatMap(({ name }) =>
    tests.map((test) =>
      share(
        counters,
        `${name}: ${test}`,
        `${name}: covered, ${test}`,
        `${name}: experiments`,
        0.95,
        noteOf(name, test !== 'absolute'),
      ),
    ),
  );
  return {
    title: 'Coverage of 95 % intervals',
    text: `The same arms with a true relative effect of ${lift * 100} %: how often the interval has it. Bayesian: with a flat prior.`,
    figures,
    format: percent,
    plots: { coverage: dotPlot('Coverage of 95 % intervals, with 99.9 % bands', figures, percent) },
  };
}

function peeking(counters: Counters): Section {
  const tests = ['fixed', 'sequential', 'sequential, one-sided'];
  const experiments = counters.get('peeking: experiments') ?? 0;
  const looks = Array.from({ length: lastLook / lookEvery }, (_, index) => (index + 1) * lookEvery);
  const lines = tests.map((test) => {
    let rejected = 0;
    const points = looks.map((look): [number, number] => {
      rejected += counters.get(`peeking: ${test}, rejected at ${look}`) ?? 0;
      return [look, rejected / experiments];
    });
    return { name: test, points };
  });
  const half = standardErrors * Math.sqrt((0.05 * 0.95) / experiments);
  const figures = lines.map(({ name, points }): Figure => {
    const value = points.at(-1)?.[1] ?? 0;
    return name === 'fixed'
      ? {
          name: `${name} (not made for it)`,
          value,
          low: 0,
          high: 0.05 + half,
          note: 'a test for one look that is looked at again and again: why sequential tests are there',
        }
      : { name, value, low: 0, high: 0.05 + half };
  });
  return {
    title: 'Looking after every 50 units',
    text:
      `Experiments without an effect, looked at from ${lookEvery} to ${lastLook} units (both arms together), and stopped at the first ` +
      'rejection at 5 %. A sequential test may ever reject in 5 % of them.',
    figures,
    format: percent,
    plots: {
      peeking: linePlot(
        'Experiments without an effect that were ever rejected',
        { x: 'units', y: 'share', yMost: 0.6 },
        [
          ...lines,
          {
            name: '5 %',
            points: [
              [lookEvery, 0.05],
              [lastLook, 0.05],
            ],
            isTheory: true,
          },
        ],
      ),
    },
  };
}

function cuped(counters: Counters): Section {
  const experiments = counters.get('cuped: experiments') ?? 0;
  const plainVariance = 2 / cupedUnits;
  const half = standardErrors * Math.sqrt(2 / experiments);
  const of = (correlation: number, counter: string): number =>
    (counters.get(`cuped ${correlation}: ${counter}`) ?? 0) / experiments / plainVariance;
  const figures = correlations.flatMap((correlation): Figure[] => {
    // One coefficient is estimated from all units, which costs one of 2n − 3 degrees of freedom.
    const expected = (1 - correlation ** 2) * (1 + 1 / (2 * cupedUnits - 3));
    return [
      {
        name: `correlation ${correlation}: variance`,
        value: of(correlation, 'squares'),
        low: expected * (1 - half),
        high: expected * (1 + half),
      },
      {
        name: `correlation ${correlation}: as estimated`,
        value: of(correlation, 'estimated variance'),
        low: (1 - correlation ** 2) * 0.99,
        high: (1 - correlation ** 2) * 1.01,
      },
    ];
  });
  const curve = Array.from({ length: 19 }, (_, index): [number, number] => [index / 20, 1 - (index / 20) ** 2]);
  return {
    title: 'What CUPED takes away',
    text: `The variance of the adjusted effect as a share of that of the plain one, and the squared standard error that the engine reports, for ${cupedUnits} units in each arm. Theory: 1 − ρ².`,
    figures,
    format: plainNumber,
    plots: {
      cuped: linePlot('Variance left by CUPED', { x: 'correlation with the covariate', y: 'share', yMost: 1 }, [
        { name: 'simulated', points: correlations.map((one): [number, number] => [one, of(one, 'squares')]) },
        { name: '1 − ρ²', points: curve, isTheory: true },
      ]),
    },
  };
}

function sampleRatio(counters: Counters): Section {
  const experiments = counters.get('srm: experiments') ?? 0;
  const bins = Array.from({ length: srmBins }, (_, bin) => counters.get(`srm: bin ${bin}`) ?? 0);
  const expected = experiments / srmBins;
  const statistic = bins.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  const figures: Figure[] = [
    {
      name: 'p-value of uniformity',
      value: chiSquareSurvival(statistic, srmBins - 1),
      low: 0.001,
      high: 1,
      note: 'counts of units are whole numbers, so that p-values are a little discrete',
    },
    share(counters, 'below 0.001', 'srm: below 0.001', 'srm: experiments', 0.001),
  ];
  return {
    title: 'Sample ratio',
    text: `P-values for 4,000 units split 40, 30, 20 and 10 % as intended. They should be uniform: χ² over ${srmBins} equal bins.`,
    figures,
    format: plainNumber,
    plots: {
      'sample-ratio': linePlot('P-values of the sample-ratio test', { x: 'p-value', y: 'density', yMost: 1.5 }, [
        {
          name: 'simulated',
          points: bins.map((count, bin): [number, number] => [(bin + 0.5) / srmBins, count / expected]),
        },
        {
          name: 'uniform',
          points: [
            [0, 1],
            [1, 1],
          ],
          isTheory: true,
        },
      ]),
    },
  };
}

const likelihoodNote =
  'the control’s mean is in a relative estimate and in its standard error, so that its likelihood is only nearly normal; absolute effects of the same data, whose likelihood is normal, show no such difference';

function underThePrior(counters: Counters): Section {
  const results = effectTypes.map((type) => priorResults(counters, type));
  return {
    title: 'Bayesian results under the prior',
    text: 'True effects drawn from the prior N(2 %, (6 %)²) of the relative effect, or the same of the absolute one. On average over them intervals cover, treatments win as often as their chance to win says, and the expected loss (here in units of the control’s mean) is the loss.',
    figures: results.flatMap(({ figures }) => figures),
    format: plainNumber,
    plots: {
      'chance-to-win': linePlot('How often treatments win', { x: 'chance to win', y: 'share', yMost: 1 }, [
        ...results.map(({ line }) => line),
        {
          name: '',
          points: [
            [0, 0],
            [1, 1],
          ],
          isTheory: true,
        },
      ]),
    },
  };
}

function priorResults(counters: Counters, type: (typeof effectTypes)[number]): { figures: Figure[]; line: Line } {
  const of = (counter: string): number => counters.get(`prior, ${type}: ${counter}`) ?? 0;
  const note = type === 'relative' ? { note: likelihoodNote } : {};
  const experiments = of('experiments');
  const bins = Array.from({ length: chanceBins }, (_, bin) => {
    const count = of(`bin ${bin}`);
    return { bin, count, chance: of(`chances in bin ${bin}`) / count, wins: of(`wins in bin ${bin}`) / count };
  });
  const expectedLoss = of('expected loss') / experiments;
  const half = (standardErrors * Math.sqrt(of('squared difference of losses') / experiments)) / Math.sqrt(experiments);
  const covered = share(
    counters,
    `${type}: intervals that cover`,
    `prior, ${type}: covered`,
    `prior, ${type}: experiments`,
    0.95,
  );
  return {
    figures: [
      { ...covered, ...note },
      {
        name: `${type}: loss of the treatment`,
        value: of('loss') / experiments,
        low: expectedLoss - half,
        high: expectedLoss + half,
        ...note,
      },
      ...bins.map(({ bin, count, chance, wins }): Figure => {
        const around = standardErrors * Math.sqrt((chance * (1 - chance)) / count);
        const name = `${type}: wins at a chance of ${(bin / chanceBins).toFixed(1)} to ${((bin + 1) / chanceBins).toFixed(1)}`;
        return { name, value: wins, low: chance - around, high: chance + around, ...note };
      }),
    ],
    line: { name: type, points: bins.map(({ chance, wins }): [number, number] => [chance, wins]) },
  };
}

function corrections(counters: Counters): Section {
  const experiments = counters.get('corrections: experiments') ?? 0;
  const falseShare = (counters.get('corrections: share of false') ?? 0) / experiments;
  const most = 0.025 + standardErrors * Math.sqrt(0.025 / experiments);
  return {
    title: 'Corrections for ten metrics',
    text: 'Holm: any false discovery where no metric has an effect, 1 − 0.995¹⁰ for independent ones. Benjamini–Hochberg: the share of false discoveries where half of the metrics have effects, half of 5 %.',
    figures: [
      share(
        counters,
        'Holm, any false discovery',
        'corrections: Holm, any false',
        'corrections: experiments',
        1 - 0.995 ** 10,
      ),
      { name: 'Benjamini–Hochberg, false among all', value: falseShare, low: 2 * 0.025 - most, high: most },
    ],
    format: percent,
    plots: {},
  };
}

function bandits(counters: Counters): Section {
  const experiments = counters.get('bandits: experiments') ?? 0;
  const regretAt = (policy: string, round: number): number =>
    (counters.get(`bandits: ${policy}, regret after ${round}`) ?? 0) / experiments;
  const uniform = regretAt('uniform', banditRounds);
  const best = Math.max(...banditRates);
  const mean = banditRates.reduce((sum, rate) => sum + rate, 0) / banditRates.length;
  const theory = banditRounds * unitsPerRound * (best - mean);
  const figures = policies.flatMap((policy): Figure[] => {
    const regret = regretAt(policy, banditRounds);
    const squares = (counters.get(`bandits: ${policy}, squared regret`) ?? 0) / experiments;
    const half = standardErrors * Math.sqrt(Math.max(0, squares - regret ** 2) / experiments);
    if (policy === 'uniform')
      return [{ name: 'uniform: regret', value: regret, low: theory - half, high: theory + half }];
    const leads = (counters.get(`bandits: ${policy}, best arm leads`) ?? 0) / experiments;
    // Each arm keeps 1 %, so that no policy can lose less than that.
    const least = (theory * 4 * 0.01 * (banditRounds - 1)) / banditRounds;
    return [
      { name: `${policy}: regret`, value: regret, low: least, high: uniform },
      { name: `${policy}: best arm leads`, value: leads * 100, low: 95, high: 100 },
    ];
  });
  const lines = policies.map((policy) => ({
    name: policy,
    points: Array.from({ length: banditRounds }, (_, round): [number, number] => [
      (round + 1) * unitsPerRound,
      regretAt(policy, round + 1),
    ]),
  }));
  return {
    title: 'Bandits',
    text:
      `Arms that convert ${banditRates.map((rate) => `${rate * 100} %`).join(', ')}; ${banditRounds} rounds of ${unitsPerRound} units. ` +
      'Regret is what is lost beside giving everybody the best arm, in conversions. It should be less than with equal weights, whose regret is known; in percent, how often the best arm has the largest weight in the end.',
    figures,
    format: (value) => value.toFixed(1),
    plots: {
      bandits: linePlot('Regret', { x: 'units', y: 'conversions', yMost: Math.ceil(uniform / 100) * 100 }, lines),
    },
  };
}

const isInside = ({ value, low, high }: Figure): boolean => value >= low && value <= high;

function sectionText({ title, text, figures, format, plots }: Section): string {
  const rows = figures.map((figure): string[] => {
    const verdict = isInside(figure) ? 'inside' : `outside: ${figure.note ?? 'by chance, or a defect'}`;
    return [figure.name, format(figure.value), `${format(figure.low)} … ${format(figure.high)}`, verdict];
  });
  const pictures = Object.keys(plots).flatMap((name) => [`![${title}](statistics-calibration/${name}.svg)`, '']);
  return [`## ${title}`, '', text, '', ...pictures, ...table([['', 'simulated', 'band', ''], ...rows]), ''].join('\n');
}

/** A table whose columns are as wide as their cells, as the formatter wants it. The first row is the head. */
function table(rows: readonly (readonly string[])[]): string[] {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.slice(1).map(line)];
}

/** The report, its plots by name, and how many figures are outside their band without a reason. */
export function report(
  counters: Counters,
  run: { readonly seed: number; readonly scale: number; readonly minutes: number },
): { readonly text: string; readonly plots: ReadonlyMap<string, string>; readonly unexplained: number } {
  const sections = [falsePositives, coverage, peeking, cuped, sampleRatio, underThePrior, corrections, bandits].map(
    (section) => section(counters),
  );
  const figures = sections.flatMap((section) => section.figures);
  const outside = figures.filter((figure) => !isInside(figure));
  const unexplained = outside.filter(({ note }) => note === undefined).length;
  const text = [
    '# What simulations say of the statistics engine',
    '',
    `Made by \`npm run calibrate\` (seed ${run.seed}, scale ${run.scale}, ${run.minutes.toFixed(0)} minutes). Every figure stands beside the`,
    `band that theory gives it, ${standardErrors} standard errors of the simulation on either side: where all is right, one figure in a thousand is`,
    `outside. ${figures.length - outside.length} of ${figures.length} are inside; where one is not, the table says why.`,
    '',
    ...sections.map(sectionText),
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
  return { text, plots: new Map(sections.flatMap(({ plots }) => Object.entries(plots))), unexplained };
}
