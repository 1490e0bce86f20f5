"""Models of scikit-learn as ONNX, and feeds for them."""
import numpy as np
import onnx
from onnx import TensorProto, helper
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor)
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

SAMPLES, FEATURES, TEXTS, BATCHES = 2000, 20, 100_000, (1, 10_000)
OPSET = {"": 18, "ai.onnx.ml": 3}
COLOURS = ["red", "green", "blue", "cyan", "magenta", "yellow", "black"]
WORDS = np.array([f"{a}{b}" for a in ("ba", "co", "di", "fu", "ge", "hy", "lo", "mi") for b in
                  ("rn", "stle", "nner", "zz", "ntle", "mn", "ng", "lk")])


def _numbers(rows, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, FEATURES)).astype(np.float32)


def _classes(x, count=3):
    return np.digitize(x[:, 0] + x[:, 1] * x[:, 2], np.linspace(-1, 1, count - 1))


def _colours(rows, seed=1):
    return np.random.default_rng(seed).choice(COLOURS, (rows, 2)).astype(object)


def _sentences(rows, seed=2):
    random = np.random.default_rng(seed)
    return np.array([" ".join(random.choice(WORDS, 12)) for _ in range(rows)], object).reshape(rows, 1)


def _numeric(estimator, target=_classes, **options):
    """An estimator of numbers: its model, and the feed for a number of rows."""
    x = _numbers(SAMPLES)
    fitted = estimator.fit(x, target(x))
    options = {id(fitted): options} if options else None
    model = to_onnx(fitted, initial_types=[("x", FloatTensorType([None, FEATURES]))], options=options, target_opset=OPSET)
    return model, lambda rows: {"x": _numbers(rows, 3)}


def _mixed(estimator):
    """Columns of numbers that are scaled, and of texts that are encoded."""
    columns = ColumnTransformer([("numbers", StandardScaler(), list(range(FEATURES))),
                                 ("texts", OneHotEncoder(handle_unknown="ignore"), [FEATURES, FEATURES + 1])])
    x = _numbers(SAMPLES)
    pipeline = make_pipeline(columns, estimator).fit(np.concatenate([x.astype(object), _colours(SAMPLES)], 1), _classes(x))
    types = [("numbers", FloatTensorType([None, FEATURES])), ("texts", StringTensorType([None, 2]))]
    model = to_onnx(pipeline, initial_types=types, options={"zipmap": False}, target_opset=OPSET)
    return model, lambda rows: {"numbers": _numbers(rows, 3), "texts": _colours(rows, 4)}


def _texts(*steps):
    """A pipeline over columns of texts."""
    x = _sentences(500) if isinstance(steps[0], CountVectorizer) else _colours(500)
    y = _classes(_numbers(500))
    pipeline = make_pipeline(*steps).fit(x.ravel() if x.shape[1] == 1 else x, y)
    types = [("x", StringTensorType([None, x.shape[1]]))]
    model = to_onnx(pipeline, initial_types=types, options={"zipmap": False}, target_opset=OPSET)
    for node in model.graph.node:
        if node.op_type == "StringNormalizer":
            node.attribute.append(helper.make_attribute("locale", "C"))  # the usual one need not be installed
    return model, lambda rows: {"x": _sentences(rows, 5) if x.shape[1] == 1 else _colours(rows, 5)}


def _strings(operator, **attributes):
    """One operator from texts to texts."""
    texts = [helper.make_tensor_value_info(name, TensorProto.STRING, ["n"]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"], **attributes)], "strings", texts[:1], texts[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return model, lambda rows: {"x": np.array([f"text {i} of many" for i in range(rows)], object)}


def _real(x):
    return x[:, 0] * 2 + np.sin(x[:, 1])


FOREST = {"n_estimators": 100, "random_state": 0}
PLAIN = {"zipmap": False}
MODELS = {
    "zipmap_int": lambda: _numeric(LogisticRegression()),
    "zipmap_str": lambda: _numeric(LogisticRegression(), lambda x: np.array(COLOURS)[_classes(x)]),
    "zipmap_forest": lambda: _numeric(RandomForestClassifier(n_estimators=10, random_state=0)),
    "strings_identity": lambda: _strings("Identity"),
    "strings_lower": lambda: _strings("StringNormalizer", case_change_action="LOWER", locale="C"),
    "linear": lambda: _numeric(LinearRegression(), _real),
    "logistic": lambda: _numeric(LogisticRegression(), **PLAIN),
    "logistic_binary": lambda: _numeric(LogisticRegression(), lambda x: _classes(x, 2), **PLAIN),
    "linear_svc": lambda: _numeric(LinearSVC()),
    "svc": lambda: _numeric(SVC(probability=True, random_state=0), **PLAIN),
    "naive_bayes": lambda: _numeric(GaussianNB(), **PLAIN),
    "mlp": lambda: _numeric(MLPClassifier((64,), max_iter=50, random_state=0), **PLAIN),
    "tree": lambda: _numeric(DecisionTreeClassifier(random_state=0), **PLAIN),
    "tree_regressor": lambda: _numeric(DecisionTreeRegressor(random_state=0), _real),
    "forest": lambda: _numeric(RandomForestClassifier(**FOREST), **PLAIN),
    "forest_regressor": lambda: _numeric(RandomForestRegressor(max_depth=8, **FOREST), _real),
    "boosting": lambda: _numeric(GradientBoostingClassifier(**FOREST), **PLAIN),
    "boosting_binary": lambda: _numeric(GradientBoostingClassifier(**FOREST), lambda x: _classes(x, 2), **PLAIN),
    "boosting_regressor": lambda: _numeric(GradientBoostingRegressor(**FOREST), _real),
    "scaled_logistic": lambda: _numeric(make_pipeline(StandardScaler(), LogisticRegression()), **PLAIN),
    "scaled_forest": lambda: _numeric(make_pipeline(MinMaxScaler(), RandomForestClassifier(**FOREST)), **PLAIN),
    "mixed_logistic": lambda: _mixed(LogisticRegression()),
    "mixed_boosting": lambda: _mixed(GradientBoostingClassifier(**FOREST)),
    "onehot_logistic": lambda: _texts(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()),
    "ordinal_tree": lambda: _texts(OrdinalEncoder(), DecisionTreeClassifier(random_state=0)),
    "tfidf_logistic": lambda: _texts(TfidfVectorizer(), LogisticRegression()),
    "tfidf_bigrams": lambda: _texts(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression()),
    "count_logistic": lambda: _texts(CountVectorizer(), LogisticRegression()),
}


def cases(names):
    """(name, rows, model, feed) of each model of these names, or of all."""
    for name in names or MODELS:
        model, feed = MODELS[name]()
        for rows in (TEXTS,) if name.startswith("strings") else BATCHES:
            yield name, rows, onnx.load_from_string(model.SerializeToString()).SerializeToString(), feed(rows)
