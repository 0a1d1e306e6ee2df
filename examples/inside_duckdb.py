"""Can the database score its own rows? The model as one SELECT, run by DuckDB where the data are.

Trained in Python, shipped as text: no Python, no pickle and no extension where it runs, and the same predictions. Rows
with missing values get NULL. ``python examples/inside_duckdb.py [folder]`` writes inside_duckdb.png (default folder:
docs/pictures).
"""

import sys
from pathlib import Path

import duckdb
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
path = sx.datasets.path("penguins")
birds = pd.read_csv(path).dropna()
X, y = birds[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]], birds["species"]
model = make_pipeline(StandardScaler(), sx.LinearSVM(C=1.0)).fit(X, y)
statement = sx.export(model, to="sql", table="penguins")

database = duckdb.connect()
database.execute("CREATE TABLE penguins AS SELECT * FROM read_csv(?, nullstr = ['', 'NA'])", [str(path)])
database.execute(f"CREATE VIEW scored AS {statement}")
whole = "bill_length_mm IS NOT NULL AND sex IS NOT NULL"
predictions = database.execute(f"SELECT prediction FROM scored WHERE {whole}").fetchall()
assert [label for (label,) in predictions] == model.predict(X).tolist()
missing = database.execute("SELECT count(*) FROM scored WHERE prediction IS NULL").fetchone()[0]
print(f"{len(statement):,} characters of SQL; {len(predictions)} predictions as in Python; {missing} rows incomplete")
counts = database.execute("SELECT species, prediction, count(*) FROM scored GROUP BY ALL ORDER BY ALL").fetchall()
print("\n".join(f"{n:4} {species} predicted as {prediction}" for species, prediction, n in counts))

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained", width_ratios=(1.5, 1))
lines = [line if len(line) <= 100 else line[:97] + "..." for line in statement.splitlines()]
left.axis("off")
left.text(0, 1, "\n".join([*lines[:21], "..."]), family="monospace", fontsize=7.5, va="top", transform=left.transAxes)
left.set_title("the model, as SQL", fontsize="medium", loc="left")
for species, marker in (("Adelie", "o"), ("Chinstrap", "s"), ("Gentoo", "D")):
    scores = database.execute(f"SELECT score_Adelie, score_Gentoo FROM scored WHERE species = '{species}'").fetchnumpy()
    right.plot(scores["score_Adelie"], scores["score_Gentoo"], marker, alpha=0.6, markersize=5, label=species)
right.axhline(0, color="#999999", linewidth=0.8)
right.axvline(0, color="#999999", linewidth=0.8)
right.set(xlabel="score_Adelie", ylabel="score_Gentoo")
right.set_title("SELECT score_Adelie, score_Gentoo FROM scored", fontsize="medium")
right.legend(frameon=False)
figure.savefig(folder / "inside_duckdb.png", dpi=80)
