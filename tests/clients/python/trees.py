"""scikit-learn's models, converted by skl2onnx: trees, forests, linear models, and a pipeline whose output is dicts."""
import numpy as np
import onnxruntime
from skl2onnx import to_onnx
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

# Sums of fp32 terms of a hundred trees, exponentials and products; labels and single leaves are exact.
FLOATS = {"rtol": 1e-5, "atol": 1e-5}


def models():
    """The estimators by name, of classes and of numbers."""
    return {
        "tree": DecisionTreeClassifier(max_depth=6, random_state=0),
        "forest": RandomForestClassifier(60, max_depth=8, random_state=0),
        "boosted": GradientBoostingClassifier(n_estimators=40, random_state=0),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        "bayes": GaussianNB(),
        "neighbours": KNeighborsClassifier(5),
        "support vectors": SVC(probability=True, random_state=0),
        "linear": make_pipeline(PolynomialFeatures(2), LinearRegression()),
        "boosted numbers": GradientBoostingRegressor(n_estimators=40, random_state=0),
        "network": make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(24, 12), max_iter=300, random_state=0)),
    }


def outputs(model, rows, options):
    """All outputs of the converted model."""
    converted = to_onnx(model, rows[:1], options=options, target_opset=18)
    session = onnxruntime.InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: rows})


def results():
    flowers, kinds = load_iris(return_X_y=True)
    cells, grave = load_breast_cancer(return_X_y=True)
    flowers, cells = flowers.astype(np.float32), cells[:, :8].astype(np.float32)
    found = {}
    for name, model in models().items():
        rows, goal = (cells, grave) if name in ("boosted", "tree") else (flowers, kinds)
        model.fit(rows, goal)
        outs = outputs(model, rows, {"zipmap": False} if hasattr(model, "predict_proba") else None)
        found.update({f"{name} {i}": out for i, out in enumerate(outs)})
        found[f"{name} expected"] = model.predict(rows)
    words = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(flowers, np.array(["a", "b", "c"])[kinds])
    labels, found["dicts"] = outputs(words, flowers, None)
    found["labels"] = [str(label) for label in labels]
    return found


TOLERANCES = {f"{name} {i}": FLOATS for name in models() for i in range(2)} | {"dicts": FLOATS}


def check(found):
    """The models say what scikit-learn itself says, but for a row that lies on an edge."""
    for name in models():
        assert np.mean(abs(found[f"{name} 0"].reshape(-1) - found[f"{name} expected"]) > 1e-2) < 0.01, name
    assert len(found["dicts"]) == 150 and set(found["dicts"][0]) == {"a", "b", "c"}, found["dicts"][:1]
