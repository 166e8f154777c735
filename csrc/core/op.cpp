// Schema parsing and the op registry. call_op is in autograd/record.cpp.
#include "core/op.h"

#include <cstdlib>
#include <map>

#include "core/error.h"

namespace flambeau {
namespace {

std::map<std::string, OpDef*, std::less<>>& registry() {
  static auto* ops = new std::map<std::string, OpDef*, std::less<>>;
  return *ops;
}

class Parser {
 public:
  Parser(std::string_view text, OpDef& def) : text_(text), def_(def) {}

  void run() {
    def_.name = word();
    expect('(');
    bool keyword_only = false;
    if (!accept(')')) {
      do {
        if (accept('*')) {
          keyword_only = true;
          continue;
        }
        def_.parameters.push_back(parameter(keyword_only));
      } while (accept(','));
      expect(')');
    }
    expect('-');
    expect('>');
    results();
    skip();
    if (at_ != text_.size()) fault("expected the end of the schema");
  }

 private:
  [[noreturn]] void fault(const char* what) const {
    fail(ErrorKind::Value, "schema: ", what, " at position ", at_, " of '", text_, "'");
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }
  void expect(char c) {
    if (!accept(c)) fault((std::string("expected '") + c + "'").c_str());
  }
  std::string word() {
    skip();
    const std::size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    if (from == at_) fault("expected a name");
    return std::string(text_.substr(from, at_ - from));
  }

  struct Type {
    Tag tag = Tag::None;
    bool optional = false, optional_items = false, varargs = false, aliased = false, mutated = false,
         only_tensor = false;
    std::int64_t fixed_size = 0;
  };

  static Tag scalar_tag(const std::string& name) {
    static const std::map<std::string, Tag> tags = {{"Tensor", Tag::Tensor},
                                                    {"OnlyTensor", Tag::Tensor},
                                                    {"int", Tag::Int},
                                                    {"float", Tag::Float},
                                                    {"bool", Tag::Bool},
                                                    {"Scalar", Tag::Scalar},
                                                    {"str", Tag::Str},
                                                    {"dtype", Tag::DType},
                                                    {"device", Tag::Device},
                                                    {"memory_format", Tag::MemoryFormat},
                                                    {"Generator", Tag::Generator}};
    const auto found = tags.find(name);
    return found == tags.end() ? Tag::None : found->second;
  }
  static Tag list_of(Tag tag) {
    switch (tag) {
      case Tag::Tensor: return Tag::TensorList;
      case Tag::Int: return Tag::IntList;
      case Tag::Float: return Tag::FloatList;
      case Tag::Bool: return Tag::BoolList;
      case Tag::Scalar: return Tag::ScalarList;
      default: return Tag::None;
    }
  }

  Type type() {
    Type result;
    const std::string name = word();
    result.tag = scalar_tag(name);
    result.only_tensor = name == "OnlyTensor";
    if (result.tag == Tag::None) fault("unknown type");
    if (at_ < text_.size() && text_[at_] == '(') {
      ++at_;
      word();
      result.aliased = true;
      result.mutated = accept('!');
      expect(')');
    }
    bool question = accept('?');
    if (accept('[')) {
      result.optional_items = question;
      question = false;
      if (accept('*')) {
        result.varargs = true;
      } else if (!accept(']')) {
        result.fixed_size = std::atoll(word().c_str());
        expect(']');
        goto closed;
      } else {
        goto closed;
      }
      expect(']');
    closed:
      result.tag = list_of(result.tag);
      if (result.tag == Tag::None) fault("no list of this type");
      question = accept('?');
    }
    result.optional = question;
    return result;
  }

  Parameter parameter(bool keyword_only) {
    const Type parsed = type();
    Parameter result;
    result.tag = parsed.tag;
    result.optional = parsed.optional;
    result.optional_items = parsed.optional_items;
    result.varargs = parsed.varargs;
    result.aliased = parsed.aliased && !parsed.mutated;
    result.mutated = parsed.mutated;
    // f(number, number) never is an op: next to a leading number, tensors have to be tensors.
    result.only_tensor = parsed.only_tensor || (!def_.parameters.empty() && def_.parameters[0].tag == Tag::Scalar);
    result.fixed_size = parsed.fixed_size;
    result.keyword_only = keyword_only;
    result.name = word();
    if (accept('=')) {
      result.has_default = true;
      default_value(result);
    }
    return result;
  }

  void default_value(Parameter& parameter) {
    if (accept('[')) {
      std::vector<std::int64_t> items;
      while (!accept(']')) {
        items.push_back(std::atoll(number().c_str()));
        accept(',');
      }
      if (parameter.tag != Tag::IntList) fault("list defaults are for int[]");
      parameter.default_value.set_int_list(std::move(items));
      return;
    }
    if (accept('\'')) {
      const std::size_t from = at_;
      while (at_ < text_.size() && text_[at_] != '\'') ++at_;
      Value text;
      text.borrow(text_.substr(from, at_ - from));
      expect('\'');
      parameter.default_value = text.own();
      return;
    }
    const std::string text = number();
    Value& value = parameter.default_value;
    if (text == "None") return;
    switch (parameter.tag) {
      case Tag::Int: value.set(static_cast<std::int64_t>(std::atoll(text.c_str()))); break;
      case Tag::Float: value.set(std::strtod(text.c_str(), nullptr)); break;
      case Tag::Bool: value.set(text == "True"); break;
      case Tag::IntList: {  // int[2] stride=1
        const std::int64_t repeat = std::max<std::int64_t>(parameter.fixed_size, 1);
        value.set_int_list(std::vector<std::int64_t>(static_cast<std::size_t>(repeat), std::atoll(text.c_str())));
        break;
      }
      case Tag::MemoryFormat: value.set(text == "preserve" ? MemoryFormat::Preserve : MemoryFormat::Contiguous); break;
      case Tag::Scalar:
        if (text == "True" || text == "False") {
          value.set(Scalar(text == "True"));
        } else if (text.find_first_of(".ein") != std::string::npos) {
          value.set(Scalar(std::strtod(text.c_str(), nullptr)));
        } else {
          value.set(Scalar(static_cast<std::int64_t>(std::atoll(text.c_str()))));
        }
        break;
      default: fault("no default value of this type");
    }
  }
  std::string number() {
    skip();
    const std::size_t from = at_;
    while (at_ < text_.size() && std::string_view(",) ]").find(text_[at_]) == std::string_view::npos) ++at_;
    return std::string(text_.substr(from, at_ - from));
  }

  ResultSpec result() {
    const Type parsed = type();
    ResultSpec spec;
    spec.tag = parsed.tag;
    spec.aliases = parsed.aliased;
    skip();
    if (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) spec.name = word();
    return spec;
  }

  void results() {
    if (accept('(')) {
      if (accept(')')) return;
      do def_.results.push_back(result());
      while (accept(','));
      expect(')');
    } else {
      def_.results.push_back(result());
    }
  }

  std::string_view text_;
  OpDef& def_;
  std::size_t at_ = 0;
};

}  // namespace

void parse_schema(std::string_view schema, OpDef& def) {
  def.schema = schema;
  Parser(schema, def).run();
  for (const ResultSpec& spec : def.results) def.is_view |= spec.aliases;
  for (std::size_t i = 0; i < def.parameters.size(); ++i) {
    if (def.parameters[i].tag == Tag::Tensor || def.parameters[i].tag == Tag::TensorList) {
      def.tensor_parameters.push_back(static_cast<std::uint16_t>(i));
    }
  }
  check(def.tensor_parameters.size() <= 64, ErrorKind::Value, "schema: more than 64 tensor parameters in '", schema,
        "'");
  if (!def.parameters.empty() && def.parameters[0].mutated) {
    def.inplace = true;
    def.is_view = false;
  }
}

void register_op(OpDef* def) {
  for (const Parameter& parameter : def->parameters) def->mutates |= parameter.mutated;
  const bool fresh = registry().emplace(def->name, def).second;
  check(fresh, ErrorKind::Value, "op '", def->name, "' is declared twice");
}

const OpDef* find_op(std::string_view name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : found->second;
}

Tensor call(const char* op, std::initializer_list<Tensor> tensors) {
  const OpDef* def = find_op(op);
  internal_assert(def != nullptr, op);
  InlineValues arguments(*def);
  std::size_t i = 0;
  for (const Tensor& tensor : tensors) arguments[i++].borrow(tensor.impl());
  Value result;
  call_op(*def, arguments.data(), &result);
  return result.take_tensor();
}

}  // namespace flambeau
